import { isId, rotateKeyBody } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { readKeyRequest } from "../../features/accounts/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";
import type { RouteDeps } from "./deps.ts";
import { keyToWire, newKeyToWire } from "./records.ts";

interface WithId {
  Params: { id: string };
}

export function keyRoutes(app: FastifyInstance, { accounts, callerOf, clock }: RouteDeps): void {
  app.get("/api/v2/keys", async (request) => {
    const page = readPageQuery(request.query);
    const { entries, total } = await accounts.listKeys(await callerOf(request), page);
    return listEnvelope(entries.map(keyToWire), page, total);
  });

  app.post("/api/v2/keys", async (request, reply) => {
    const { body = {} } = request;
    const wanted = readKeyRequest(body, clock.now());
    return reply.code(201).send(newKeyToWire(await accounts.createKey(await callerOf(request), wanted)));
  });

  app.delete<WithId>("/api/v2/keys/:id", async (request, reply) => {
    await accounts.revokeKey(await callerOf(request), keyId(request.params.id));
    return reply.code(204).send();
  });

  app.post<WithId>("/api/v2/keys/:id/rotate", async (request) => {
    const { body = {} } = request;
    const { grace_seconds } = parseOrThrow(rotateKeyBody, body, ["body"]);
    return newKeyToWire(await accounts.rotateKey(await callerOf(request), keyId(request.params.id), grace_seconds));
  });
}

/** A text that is no id names nothing; it also never reaches the database. */
function keyId(text: string): string {
  if (!isId("key", text)) throw fault("not_found", "Key not found");
  return text;
}
