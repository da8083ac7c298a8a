import { type ProviderType, providerTypes } from "@gantry/wire";

/** How to reach a provider. Secrets are already revealed. */
export interface ProviderConnection {
  type: ProviderType;
  /** Without it, the default of the type. */
  url?: string | undefined;
  key?: string | undefined;
  headers: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
}

export function labelOf(type: ProviderType): string {
  return type === "openai-compatible" ? "The server" : providerTypes[type].label;
}

export function defaultUrlOf(type: ProviderType): string | undefined {
  const preset = providerTypes[type];
  return "url" in preset ? preset.url : undefined;
}
