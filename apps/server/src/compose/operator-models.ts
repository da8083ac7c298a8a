import type { Config } from "../config/config.ts";
import type { Model } from "../features/models/index.ts";

/** The models of the owner `anthropic` are the operator's, and with them what the environment sets for them. */
export function isOperators({ owner }: Pick<Model, "owner">): boolean {
  return owner === "anthropic";
}

/**
 * The key of the environment that such a model names, for the address that it is meant for and no other: whoever may change
 * models must not be able to have it sent elsewhere.
 */
export function operatorKeyOf(
  config: Pick<Config, "ANTHROPIC_API_KEY" | "GANTRY_LLM_KEY" | "GANTRY_LLM_URL">,
  model: Pick<Model, "owner" | "manifest">,
  name: string,
): string | undefined {
  if (!isOperators(model)) return undefined;
  const { type, url } = model.manifest.backend;
  if (name === "ANTHROPIC_API_KEY" && type === "anthropic" && url === undefined) return config.ANTHROPIC_API_KEY;
  if (name === "GANTRY_LLM_KEY" && url !== undefined && url === config.GANTRY_LLM_URL) return config.GANTRY_LLM_KEY;
  return undefined;
}
