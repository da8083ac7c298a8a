import { type ProviderType, providerTypes } from "@gantry/sdk";

export interface ConnectSearch {
  /** The kind of a new provider. */
  type?: ProviderType;
  /** A saved provider, whose models are shown. */
  provider?: string;
  /** Shows its settings instead. */
  edit?: true;
  /** Endpoint ids of the models that were imported last. */
  imported?: string[];
  /** An admin offers the models to everyone. */
  for?: "everyone";
}

/** The step of the page "Connect a model". */
export function connectSearch({ type, provider, edit, imported, for: scope }: Record<string, unknown>): ConnectSearch {
  const kind = (Object.keys(providerTypes) as ProviderType[]).find((known) => known === type);
  const isNamed = typeof provider === "string" && provider !== "";
  const ids = Array.isArray(imported)
    ? imported.filter((id) => typeof id === "string" && /^[^/]+\/[^/]+$/.test(id))
    : [];
  return {
    ...(isNamed ? { provider } : kind && { type: kind }),
    ...(isNamed && edit === true && { edit }),
    ...(isNamed && ids.length > 0 && { imported: ids }),
    ...(scope === "everyone" && { for: scope }),
  };
}
