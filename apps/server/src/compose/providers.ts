import { type ObjectSchema, type ProviderPreset, providerTypes, type UpstreamModel } from "@gantry/wire";
import type { Config } from "../config/config.ts";
import type { Database } from "../engines/database/database.ts";
import { openAccess } from "../engines/models/backend-access.ts";
import { fetchCogSchema } from "../engines/models/cog/schema.ts";
import {
  backendFor,
  discoverModels,
  normalizeUrl,
  ProviderFailure,
  testProvider,
} from "../engines/models/providers/providers.ts";
import type { Net } from "../engines/net/net.ts";
import type { Models } from "../features/models/index.ts";
import {
  type Offer,
  openProviders,
  type Provider,
  type ProviderConnection,
  type Providers,
  type Upstreams,
} from "../features/providers/index.ts";
import type { Secrets } from "../features/secrets/index.ts";
import { fault } from "../kernel/errors.ts";
import { environmentProviders, vendorKeyOf } from "./operator-models.ts";
import type { WaysOut } from "./telemetry.ts";

export function openProvidersOf(deps: {
  config: Config;
  database: Database;
  models: Models;
  secrets: Secrets;
  waysOut: WaysOut;
}): Promise<Providers> {
  const { config, database, models, secrets, waysOut } = deps;
  return openProviders({
    database,
    models,
    upstreams: upstreamsOf(waysOut),
    environment: environmentProviders(config),
    secrets: {
      async key(owner, { type, url }, name) {
        const preset: ProviderPreset = providerTypes[type];
        const ofVendor = owner.isOperator ? vendorKeyOf(config, url ?? preset.url, name) : undefined;
        return ofVendor ?? secrets.reveal(owner.id, name);
      },
      stored: (owner, name) => secrets.reveal(owner.id, name),
    },
  });
}

/** The time limit of the feature is the stricter one. */
const timeoutMs = 10_000;

function upstreamsOf({ net, operatorNet }: WaysOut): Upstreams {
  const netFor = (isOperators: boolean) => (isOperators ? operatorNet : net);
  return {
    normalizeUrl,
    async discover(provider, connection, { isOperators, signal }) {
      const way = netFor(isOperators);
      if (provider.type === "cog") return [await cogOffer(way, provider, connection, signal)];
      const models = await discoverModels(way, connection, { signal, timeoutMs }).catch(toFault);
      const settings = settingsOf(provider);
      return models.map((model) => ({ model, backend: backendFor(settings, model) }));
    },
    async test(connection, { isOperators, signal, model }) {
      const result = await testProvider(netFor(isOperators), connection, { model, signal, timeoutMs });
      return { ok: result.ok, message: result.message, latency_ms: result.latencyMs };
    },
  };
}

const temporary: ReadonlySet<string> = new Set([
  "unknown_host",
  "connection_refused",
  "unreachable",
  "timeout",
  "cut",
  "busy",
  "starting",
]);

function toFault(error: unknown): never {
  if (!(error instanceof ProviderFailure)) throw error;
  const type = temporary.has(error.reason) ? "downstream_service_unavailable" : "downstream_service_error";
  throw fault(type, error.message, { cause: error.cause });
}

function settingsOf({ type, url, secret, headers, query }: Provider) {
  return { type, url: url ?? undefined, secret: secret ?? undefined, headers, query };
}

/** A Cog server has one model, which gets the provider's name. */
async function cogOffer(
  net: Net,
  provider: Provider,
  { url = "", key, headers, query }: ProviderConnection,
  signal: AbortSignal,
): Promise<Offer> {
  const sent = [...Object.values(headers), ...Object.values(query)].map((text) => [text, text] as const);
  const access = openAccess(net, { url, headers, query }, { key, secrets: new Map(sent) });
  const schemas = await fetchCogSchema(access.net, url, { ...access, signal });
  const kind = kindOf(schemas.output);
  const model: UpstreamModel = {
    id: provider.name,
    title: provider.name,
    description: "",
    kind,
    context_window: null,
    max_output_tokens: null,
    model_size_in_billions: null,
    input_modalities: [],
    output_modalities: kind === "other" ? [] : [kind],
    tools: null,
    pricing: null,
  };
  return { model, backend: { type: "cog", url, ...namedIn(provider) }, schemas };
}

/** What every backend of the provider has, with names of secrets instead of their values. */
function namedIn({ secret, headers, query }: Provider) {
  return {
    ...(secret !== null && { secret }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(query).length > 0 && { query }),
  };
}

function kindOf({ properties }: ObjectSchema): "text" | "image" | "video" | "other" {
  const fields = Object.values(properties);
  if (fields.some(({ isStream }) => isStream)) return "text";
  const media = fields.map((field) => field["x-media"] ?? (field.items?.["x-media"] as string | undefined));
  return media.includes("video") ? "video" : media.includes("image") ? "image" : "other";
}
