import type { UpstreamModel } from "@gantry/wire";
import { openAccess } from "../engines/models/backend-access.ts";
import { kindOfOutput } from "../engines/models/cog/output-kind.rules.ts";
import { fetchCogSchema } from "../engines/models/cog/schema.ts";
import {
  listWorkflows,
  manifestOfWorkflow,
  objectInfoOf,
  type RecentWorkflow,
} from "../engines/models/comfyui/workflows.ts";
import {
  backendFor,
  discoverModels,
  normalizeUrl,
  ProviderFailure,
  testProvider,
} from "../engines/models/providers/providers.ts";
import type { Net } from "../engines/net/net.ts";
import type { Offer, Provider, ProviderConnection, Upstreams } from "../features/providers/index.ts";
import { Fault, fault } from "../kernel/errors.ts";
import type { WaysOut } from "./telemetry.ts";

/** The time limit of the feature is the stricter one. */
const timeoutMs = 10_000;

export function upstreamsOf({ net, operatorNet }: Pick<WaysOut, "net" | "operatorNet">): Upstreams {
  const netFor = (isOperators: boolean) => (isOperators ? operatorNet : net);
  return {
    normalizeUrl,
    async discover(provider, connection, { isOperators, signal }) {
      const way = netFor(isOperators);
      if (provider.type === "cog") return [await cogOffer(way, provider, connection, signal)];
      if (provider.type === "comfyui") return workflowOffers(way, provider, connection, signal);
      const models = await discoverModels(way, connection, { signal, timeoutMs }).catch(toFault);
      const { type, url, secret, headers, query } = provider;
      const settings = { type, url: url ?? undefined, secret: secret ?? undefined, headers, query };
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

/** Calls with the provider's headers and query, which are masked in errors. */
function accessTo(net: Net, { url = "", key, headers, query }: ProviderConnection) {
  const sent = [...Object.values(headers), ...Object.values(query)].map((text) => [text, text] as const);
  return { ...openAccess(net, { url, headers, query }, { key, secrets: new Map(sent) }), url };
}

/** What every backend of the provider has, with names of secrets instead of their values. */
function namedIn({ secret, headers, query }: Provider) {
  return {
    ...(secret !== null && { secret }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(Object.keys(query).length > 0 && { query }),
  };
}

/** Of servers that state nothing but their fields. */
function plainModel(id: string, title: string, kind: UpstreamModel["kind"], description = ""): UpstreamModel {
  return {
    id,
    title,
    description,
    kind,
    context_window: null,
    max_output_tokens: null,
    model_size_in_billions: null,
    input_modalities: [],
    output_modalities: kind === "other" ? [] : [kind],
    tools: null,
    pricing: null,
  };
}

/** A Cog server has one model, which gets the provider's name. */
async function cogOffer(
  net: Net,
  provider: Provider,
  connection: ProviderConnection,
  signal: AbortSignal,
): Promise<Offer> {
  const access = accessTo(net, connection);
  const manifest = await fetchCogSchema(access.net, access.url, { ...access, signal }).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.type !== "downstream_service_error") throw error;
    const msg = "The server does not describe a Cog model at /openapi.json. Check the address and the key.";
    throw fault("downstream_service_error", msg, { cause: error.cause });
  });
  return {
    model: plainModel(provider.name, provider.name, kindOfOutput(manifest.output)),
    backend: { type: "cog", url: access.url, ...namedIn(provider) },
    manifest,
  };
}

/** The workflows that ran lately. Bounds of their inputs are read only for those that are imported. */
async function workflowOffers(
  net: Net,
  provider: Provider,
  connection: ProviderConnection,
  signal: AbortSignal,
): Promise<Offer[]> {
  const access = accessTo(net, connection);
  const offerOf = (recent: RecentWorkflow, description: string, info = {}): Offer[] => {
    const made = manifestOfWorkflow(recent.workflow, info);
    if (!made) return [];
    const { title, kind, backend, ...manifest } = made;
    return [
      {
        model: plainModel(recent.id, title, kind, description),
        nameFrom: title,
        manifest,
        backend: { ...backend, url: access.url, ...namedIn(provider) },
      },
    ];
  };
  const recents = await listWorkflows(access.net, access, signal);
  return recents.flatMap((recent) =>
    offerOf(recent, recent.ranAt === undefined ? "" : `Ran at ${recent.ranAt}.`).map((offer) => ({
      ...offer,
      async complete(bounded) {
        const info = await objectInfoOf(access.net, access, recent.workflow, bounded);
        return offerOf(recent, "", info)[0] ?? offer;
      },
    })),
  );
}
