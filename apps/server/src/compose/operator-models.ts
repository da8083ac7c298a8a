import type { BackendConfig } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Model } from "../features/models/index.ts";

/** Models of the owner `anthropic` belong to the operator and use keys from the environment. */
export function isOperators({ owner }: Pick<Model, "owner">): boolean {
  return owner === "anthropic";
}

/** A key from the environment goes only to its own address: a changed manifest must not send it elsewhere. */
export function operatorKeyOf(
  config: Pick<Config, "ANTHROPIC_API_KEY" | "GANTRY_LLM_KEY" | "GANTRY_LLM_URL">,
  model: Pick<Model, "owner">,
  { type, url }: BackendConfig,
  name: string,
): string | undefined {
  if (!isOperators(model)) return undefined;
  if (name === "ANTHROPIC_API_KEY" && type === "anthropic" && url === undefined) return config.ANTHROPIC_API_KEY;
  if (name === "GANTRY_LLM_KEY" && url !== undefined && url === config.GANTRY_LLM_URL) return config.GANTRY_LLM_KEY;
  return undefined;
}
