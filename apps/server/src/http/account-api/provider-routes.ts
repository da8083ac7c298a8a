import type { ProviderRecord } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import type { ListedProvider, Providers } from "../../features/providers/index.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";

const operations = accountOperations;

export interface ProviderRouteDeps {
  providers: Providers;
}

/** Providers of the caller and of the operator. */
export async function providerRoutes(app: FastifyInstance, { providers }: ProviderRouteDeps): Promise<void> {
  acceptEmptyBodies(app);
  ownRoutes(app, providers);
  sharedRoutes(app, providers);
}

function ownRoutes(app: FastifyInstance, providers: Providers): void {
  const { ownerOf } = providers;

  route(app, operations.listProviders, async ({ caller, query }) =>
    pageOf(await providers.listProviders(caller), query),
  );

  route(app, operations.readProvider, async ({ caller, params }) =>
    providerToWire(await providers.readProvider(ownerOf(caller), params.name)),
  );

  route(app, operations.putProvider, async ({ caller, params, body, reply }) => {
    const { listed, created } = await providers.putProvider(ownerOf(caller), params.name, body);
    if (created) reply.code(201);
    return providerToWire(listed);
  });

  route(app, operations.deleteProvider, async ({ caller, params }) => {
    await providers.deleteProvider(ownerOf(caller), params.name);
  });

  route(app, operations.testProvider, async ({ caller, params, body, reply }) => {
    const call = { model: body.model, callerId: caller.userId, signal: clientPresence(reply) };
    return providers.testProvider(ownerOf(caller), params.name, call);
  });

  route(app, operations.discoverModels, async ({ caller, params, reply }) => {
    const call = { callerId: caller.userId, signal: clientPresence(reply) };
    return { models: await providers.discoverModels(ownerOf(caller), params.name, call) };
  });

  route(app, operations.importModels, async ({ caller, params, body, reply }) => {
    const call = { callerId: caller.userId, signal: clientPresence(reply) };
    return { results: await providers.importModels(ownerOf(caller), params.name, body, call) };
  });
}

function sharedRoutes(app: FastifyInstance, providers: Providers): void {
  const { operator } = providers;

  route(app, operations.listSharedProviders, async ({ query }) => pageOf(await providers.listOf(operator), query));

  route(app, operations.readSharedProvider, async ({ params }) =>
    providerToWire(await providers.readProvider(operator, params.name)),
  );

  route(app, operations.putSharedProvider, async ({ params, body, reply }) => {
    const { listed, created } = await providers.putProvider(operator, params.name, body);
    if (created) reply.code(201);
    return providerToWire(listed);
  });

  route(app, operations.deleteSharedProvider, async ({ params }) => {
    await providers.deleteProvider(operator, params.name);
  });

  route(app, operations.testSharedProvider, async ({ caller, params, body, reply }) => {
    const call = { model: body.model, callerId: caller.userId, signal: clientPresence(reply) };
    return providers.testProvider(operator, params.name, call);
  });

  route(app, operations.discoverSharedModels, async ({ caller, params, reply }) => {
    const call = { callerId: caller.userId, signal: clientPresence(reply) };
    return { models: await providers.discoverModels(operator, params.name, call) };
  });

  route(app, operations.importSharedModels, async ({ caller, params, body, reply }) => {
    const call = { callerId: caller.userId, signal: clientPresence(reply) };
    return { results: await providers.importModels(operator, params.name, body, call) };
  });
}

function pageOf(listed: readonly ListedProvider[], query: { page: number; page_size: number }) {
  const { limit, offset } = rangeOf(query);
  return listEnvelope(listed.slice(offset, offset + limit).map(providerToWire), query, listed.length);
}

export function providerToWire({ provider, owner, models, isHidden }: ListedProvider): ProviderRecord {
  const { name, type, source, url, secret, headers, query, createdAt, updatedAt } = provider;
  return {
    name,
    owner: owner.username,
    type,
    source,
    url: isHidden ? null : url,
    secret: isHidden ? null : secret,
    headers: isHidden ? {} : headers,
    query: isHidden ? {} : query,
    models,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}
