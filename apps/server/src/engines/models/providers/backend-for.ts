import type { BackendType, ProviderType, UpstreamBackend, UpstreamModel } from "@gantry/wire";
import { type ApiAddress, apiAddressOf } from "./address.rules.ts";
import { defaultUrlOf } from "./connection.ts";

/** A stored provider: secrets are named, not revealed. */
export interface ProviderSettings {
  type: ProviderType;
  url?: string | undefined;
  secret?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
  query?: Readonly<Record<string, string>> | undefined;
}

/** The oldest version that is not retired, with every field that Gantry sends. */
export const azureVersion = "2024-10-21";

const typesByKind: Partial<Record<UpstreamModel["kind"], BackendType>> = {
  text: "openai-chat",
  embedding: "openai-embeddings",
  image: "openai-images",
};

type Place = Pick<UpstreamBackend, "type" | "url">;

/** How a discovered model is called: the `backend` of its manifest, with the provider's secret, headers and query. */
export function backendFor(provider: ProviderSettings, model: Pick<UpstreamModel, "id" | "kind">): UpstreamBackend {
  const type = typesByKind[model.kind];
  if (type === undefined) throw new Error(`no backend for a discovered model of kind ${model.kind}`);
  const address = apiAddressOf(provider.type, provider.url ?? defaultUrlOf(provider.type) ?? "");
  const { headers = {}, query = {}, secret } = provider;
  const isOldAzure = provider.type === "azure-deployments";
  const sent = isOldAzure && secret !== undefined ? { "api-key": `{{secret:${secret}}}`, ...headers } : headers;
  const asked = isOldAzure ? { "api-version": azureVersion, ...query } : query;
  return {
    ...placeOf(provider.type, address, { ...model, type }),
    model: model.id,
    ...(secret !== undefined && !isOldAzure && { secret }),
    ...(Object.keys(sent).length > 0 && { headers: { ...sent } }),
    ...(Object.keys(asked).length > 0 && { query: { ...asked } }),
  };
}

function placeOf(provider: ProviderType, { api, root }: ApiAddress, model: { id: string; type: BackendType }): Place {
  const { id, type } = model;
  const isText = type === "openai-chat";
  switch (provider) {
    case "anthropic":
      return { type: "anthropic", url: api };
    case "gemini":
      // Google's own protocol has no backend for embeddings, but its imitation of OpenAI's does.
      return isText ? { type: "google", url: api } : { type, url: `${api}/openai` };
    case "azure-deployments":
      return { type, url: `${root}/openai/deployments/${encodeURIComponent(id)}` };
    case "bedrock":
      return bedrockPlace(root, id);
    default:
      return { type, url: api };
  }
}

/** On the older address, most models are under /v1. */
const isMantle = (root: string) => URL.parse(root)?.hostname.startsWith("bedrock-mantle.") ?? false;
const mantleOpenAi = /^(?:openai\.gpt-(?!oss)|google\.gemma-4)/;

function bedrockPlace(root: string, id: string): Place {
  if (/^(?:[a-z-]+\.)?anthropic\./.test(id)) return { type: "anthropic", url: `${root}/anthropic/v1` };
  const path = isMantle(root) && !mantleOpenAi.test(id) ? "/v1" : "/openai/v1";
  return { type: "openai-chat", url: root + path };
}
