import {
  type DiscoveredModel,
  type ProviderPreset,
  type ProviderTestRecord,
  providerTypes,
  secretNamesIn,
  withSecrets,
} from "@gantry/wire";
import { Fault, fault } from "../../kernel/errors.ts";
import { namesFor } from "../models/index.ts";
import type { ProvidersContext } from "./context.ts";
import type { Offer, Provider, ProviderConnection, ProviderOwner } from "./provider.ts";
import { findProvider } from "./providers.ts";

const callMs = 10_000;

/** Lists what the provider serves. */
export async function discoverModels(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
  options: { callerId: string; signal: AbortSignal },
): Promise<DiscoveredModel[]> {
  const provider = await findProvider(context, owner, name);
  const offers = await offersOf(context, owner, provider, options);
  const imported = await context.models.importedModels(owner.id, name);
  const names = namesFor(offers.map(namingOf), imported);
  const ids = new Set(imported.map(({ upstreamId }) => upstreamId));
  return offers.map(({ model }) => {
    const own = names.get(model.id) ?? model.id;
    return { ...model, name: own, imported: ids.has(model.id) ? `${owner.username}/${own}` : null };
  });
}

export function namingOf({ model, nameFrom }: Offer): { id: string; nameFrom: string | undefined } {
  return { id: model.id, nameFrom };
}

/** Rejects with a fault that says in a sentence what is wrong. */
export async function offersOf(
  context: ProvidersContext,
  owner: ProviderOwner,
  provider: Provider,
  { callerId, signal }: { callerId: string; signal: AbortSignal },
): Promise<readonly Offer[]> {
  const connection = await connectionOf(context, owner, provider);
  const isOperators = provider.source !== "saved";
  return withinTime(context, provider, { callerId, signal }, (bounded) =>
    context.upstreams.discover(provider, connection, { isOperators, signal: bounded }),
  );
}

export async function completed(
  context: ProvidersContext,
  provider: Provider,
  offer: Offer,
  options: { callerId: string; signal: AbortSignal },
): Promise<Offer> {
  const { complete } = offer;
  return complete ? withinTime(context, provider, options, complete) : offer;
}

/** Makes one cheap call. The answer says what is wrong, if anything is. */
export async function testProvider(
  context: ProvidersContext,
  owner: ProviderOwner,
  name: string,
  { model, callerId, signal }: { model: string | undefined; callerId: string; signal: AbortSignal },
): Promise<ProviderTestRecord> {
  const provider = await findProvider(context, owner, name);
  const isOperators = provider.source !== "saved";
  try {
    const connection = await connectionOf(context, owner, provider);
    return await withinTime(context, provider, { callerId, signal }, (bounded) =>
      context.upstreams.test(connection, { isOperators, signal: bounded, model }),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!isUpstreamFault(error)) throw error;
    return { ok: false, message: error.issues[0].msg, latency_ms: null };
  }
}

function isUpstreamFault(error: unknown): error is Fault {
  if (!(error instanceof Fault)) return false;
  return error.type === "downstream_service_error" || error.type === "downstream_service_unavailable";
}

/** Waits for a slot of the caller, then bounds the call in time. */
async function withinTime<T>(
  { calls }: ProvidersContext,
  { type }: Provider,
  { callerId, signal }: { callerId: string; signal: AbortSignal },
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return calls(
    callerId,
    async () => {
      const limit = AbortSignal.timeout(callMs);
      try {
        return await call(AbortSignal.any([signal, limit]));
      } catch (error) {
        signal.throwIfAborted();
        if (!limit.aborted) throw error;
        const msg = `${providerTypes[type].label} did not answer within ${callMs / 1000} seconds. Try again later.`;
        throw fault("downstream_service_unavailable", msg, { cause: error });
      }
    },
    signal,
  );
}

async function connectionOf(
  context: ProvidersContext,
  owner: ProviderOwner,
  provider: Provider,
): Promise<ProviderConnection> {
  const { type, url, secret, headers, query } = provider;
  const secrets = new Map<string, string>();
  for (const name of new Set([...secretNamesIn(headers), ...secretNamesIn(query)])) {
    const value = await context.secrets.stored(owner, name);
    if (value === undefined) throw secretMissing(owner, provider, name);
    secrets.set(name, value);
  }
  const key = secret === null ? undefined : await context.secrets.key(owner, provider, secret);
  if (secret !== null && key === undefined) throw secretMissing(owner, provider, secret);
  const preset: ProviderPreset = providerTypes[type];
  return {
    type,
    url: url ?? preset.url,
    headers: withSecrets(headers, secrets),
    query: withSecrets(query, secrets),
    ...(key !== undefined && { key }),
  };
}

function secretMissing({ isOperator }: ProviderOwner, { name: provider }: Provider, name: string): Fault {
  const route = isOperator ? "/api/v2/admin/secrets" : "/api/v2/secrets";
  const msg = `The secret "${name}" of the provider ${provider} does not exist. Store it with PUT ${route}/${name}.`;
  return fault("downstream_service_error", msg);
}
