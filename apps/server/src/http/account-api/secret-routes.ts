import { putSecretBody, type SecretRecord, secretNamePattern } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import type { Secrets } from "../../features/secrets/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { type Call, route } from "../foundation/route.ts";

const { listSecrets, putSecret, deleteSecret, listSharedSecrets, putSharedSecret, deleteSharedSecret } =
  accountOperations;

export interface SecretRouteDeps {
  secrets: Secrets;
  /** The system user `gantry`, who owns the operator's secrets. */
  operatorId: string;
}

/** Secrets of the caller, and those of the operator. */
export async function secretRoutes(app: FastifyInstance, { secrets, operatorId }: SecretRouteDeps): Promise<void> {
  acceptEmptyBodies(app);

  const list = async (ownerId: string, query: Call<typeof listSecrets>["query"]) => {
    const { rows, total } = await secrets.list(ownerId, rangeOf(query));
    return listEnvelope(rows.map(secretToWire), query, total);
  };
  const put = async (
    ownerId: string,
    { params: { name }, body, reply }: Pick<Call<typeof putSecret, "body">, "params" | "body" | "reply">,
  ) => {
    if (!secretNamePattern.test(name)) {
      const msg = "A secret's name has 1 to 63 characters: letters, digits, _, . and -. The first is not . or -.";
      throw fault("value_error", msg, { loc: ["path", "name"] });
    }
    const { value } = parseOrThrow(putSecretBody, body, ["body"]);
    const { created, row } = await secrets.put(ownerId, name, value);
    if (created) reply.code(201);
    return secretToWire(row);
  };

  route(app, listSecrets, ({ caller, query }) => list(caller.userId, query));
  route(app, putSecret, { unchecked: "body" }, (call) => put(call.caller.userId, call));
  route(app, deleteSecret, ({ caller, params }) => secrets.remove(caller.userId, params.name));

  route(app, listSharedSecrets, ({ query }) => list(operatorId, query));
  route(app, putSharedSecret, { unchecked: "body" }, (call) => put(operatorId, call));
  route(app, deleteSharedSecret, ({ params }) => secrets.remove(operatorId, params.name));
}

export function secretToWire(row: { name: string; createdAt: Date; updatedAt: Date }): SecretRecord {
  return { name: row.name, created_at: row.createdAt.toISOString(), updated_at: row.updatedAt.toISOString() };
}
