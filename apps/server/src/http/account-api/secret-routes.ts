import { putSecretBody, type SecretRecord, secretNamePattern } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Secrets } from "../../features/secrets/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";
import { requireCaller } from "../foundation/require-caller.ts";

interface WithName {
  Params: { name: string };
}

export interface SecretRouteDeps {
  secrets: Secrets;
  authenticate(presented: string): Promise<Caller>;
}

/** Credentials for model backends and tool servers: they can be set, listed by name and removed, never read. */
export async function secretRoutes(app: FastifyInstance, { secrets, authenticate }: SecretRouteDeps): Promise<void> {
  const callerOf = requireCaller(authenticate);
  // Before the body is read: whoever has no key sends nothing that is looked at.
  app.addHook("onRequest", async (request) => {
    await callerOf(request);
  });
  acceptEmptyBodies(app);

  app.get("/api/v2/secrets", async (request) => {
    const { userId } = await callerOf(request);
    const page = readPageQuery(request.query);
    const { rows, total } = await secrets.list(userId, page);
    return listEnvelope(rows.map(toWire), page, total);
  });

  app.put<WithName>("/api/v2/secrets/:name", async (request, reply) => {
    const { userId } = await callerOf(request);
    const { name } = request.params;
    if (!secretNamePattern.test(name)) {
      throw fault("value_error", `A secret's name must match ${secretNamePattern.source}`, { loc: ["path", "name"] });
    }
    const { value } = parseOrThrow(putSecretBody, request.body, ["body"]);
    const { created, row } = await secrets.put(userId, name, value);
    return reply.code(created ? 201 : 200).send(toWire(row));
  });

  app.delete<WithName>("/api/v2/secrets/:name", async (request, reply) => {
    const { userId } = await callerOf(request);
    await secrets.remove(userId, request.params.name);
    return reply.code(204).send();
  });
}

function toWire(row: { name: string; createdAt: Date; updatedAt: Date }): SecretRecord {
  return { name: row.name, created_at: row.createdAt.toISOString(), updated_at: row.updatedAt.toISOString() };
}
