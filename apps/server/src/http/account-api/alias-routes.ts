import type { AliasRecord } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import type { Alias, Models } from "../../features/models/index.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";

const operations = accountOperations;

export interface AliasRouteDeps {
  models: Pick<
    Models,
    "listOwnAliases" | "putAlias" | "deleteAlias" | "listSharedAliases" | "putSharedAlias" | "deleteSharedAlias"
  >;
}

/** Aliases of the caller, and those for all users. */
export async function aliasRoutes(app: FastifyInstance, { models }: AliasRouteDeps): Promise<void> {
  acceptEmptyBodies(app);

  route(app, operations.listAliases, async ({ caller, query }) => {
    const { entries, total } = await models.listOwnAliases(caller, rangeOf(query));
    return listEnvelope(entries.map(aliasToWire), query, total);
  });

  route(app, operations.putAlias, async ({ caller, params, body, reply }) => {
    const { alias, created } = await models.putAlias(caller, params.name, body);
    if (created) reply.code(201);
    return aliasToWire(alias);
  });

  route(app, operations.deleteAlias, async ({ caller, params }) => {
    await models.deleteAlias(caller, params.name);
  });

  route(app, operations.listSharedAliases, async ({ query }) => {
    const { entries, total } = await models.listSharedAliases(rangeOf(query));
    return listEnvelope(entries.map(aliasToWire), query, total);
  });

  route(app, operations.putSharedAlias, async ({ params, body, reply }) => {
    const { alias, created } = await models.putSharedAlias(params.name, body);
    if (created) reply.code(201);
    return aliasToWire(alias);
  });

  route(app, operations.deleteSharedAlias, async ({ params }) => {
    await models.deleteSharedAlias(params.name);
  });
}

export function aliasToWire({ name, model, createdAt, updatedAt }: Alias): AliasRecord {
  return { name, model, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}
