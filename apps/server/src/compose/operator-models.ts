import { type BackendConfig, providerTypes } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Model } from "../features/models/index.ts";
import type { Provider } from "../features/providers/index.ts";

/** Models of these owners belong to the operator and use keys and addresses from the environment. */
export function isOperators({ owner }: Pick<Model, "owner">): boolean {
  return owner === "anthropic" || owner === "gantry";
}

/** Keys in the environment, and the vendor that each is for. */
const vendorKeys = {
  OPENAI_API_KEY: "openai",
  GEMINI_API_KEY: "gemini",
  OPENROUTER_API_KEY: "openrouter",
} as const;

type VendorConfig = Partial<Pick<Config, keyof typeof vendorKeys>>;

const vendorNames = Object.keys(vendorKeys) as (keyof typeof vendorKeys)[];

/** Providers that exist as long as their key is in the environment. */
export function environmentProviders(config: VendorConfig, now = new Date()): Provider[] {
  return vendorNames
    .filter((secret) => config[secret] !== undefined)
    .map((secret) => ({
      name: vendorKeys[secret],
      type: vendorKeys[secret],
      source: "environment",
      url: null,
      secret,
      headers: {},
      query: {},
      createdAt: now,
      updatedAt: now,
    }));
}

/** A vendor's key goes only to that vendor. */
export function vendorKeyOf(config: VendorConfig, url: string | undefined, name: string): string | undefined {
  const secret = vendorNames.find((one) => one === name);
  if (secret === undefined || url === undefined) return undefined;
  const own = new URL(providerTypes[vendorKeys[secret]].url).origin;
  return URL.parse(url)?.origin === own ? config[secret] : undefined;
}

/** A key from the environment goes only to its own address: a changed manifest must not send it elsewhere. */
export function operatorKeyOf(
  config: Pick<Config, "ANTHROPIC_API_KEY" | "GANTRY_LLM_KEY" | "GANTRY_LLM_URL"> & VendorConfig,
  model: Pick<Model, "owner">,
  { type, url }: BackendConfig,
  name: string,
): string | undefined {
  if (!isOperators(model)) return undefined;
  if (model.owner === "gantry") return vendorKeyOf(config, url, name);
  if (name === "ANTHROPIC_API_KEY" && type === "anthropic" && url === undefined) return config.ANTHROPIC_API_KEY;
  if (name === "GANTRY_LLM_KEY" && url !== undefined && url === config.GANTRY_LLM_URL) return config.GANTRY_LLM_KEY;
  return undefined;
}
