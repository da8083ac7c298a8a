import { changeUserBody, createUserBody, usernamePattern } from "@gantry/wire";
import type { FastifyInstance } from "fastify";
import { readKeyRequest, type User } from "../../features/accounts/index.ts";
import type { Wallet } from "../../features/billing/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";
import type { RouteDeps } from "./deps.ts";
import { newKeyToWire, userToWire } from "./records.ts";

interface WithUsername {
  Params: { username: string };
}

export function adminRoutes(app: FastifyInstance, { accounts, billing, clock }: RouteDeps): void {
  const withWallet = async (user: User) => userToWire(user, await billing.walletOf(user.id));

  app.get("/api/v2/admin/users", async (request) => {
    const page = readPageQuery(request.query);
    const { entries, total } = await accounts.listUsers(page);
    const wallets = await billing.walletsOf(entries.map(({ id }) => id));
    const records = entries.map((user, n) => userToWire(user, wallets[n] as Wallet));
    return listEnvelope(records, page, total);
  });

  app.post("/api/v2/admin/users", async (request, reply) => {
    const { body = {} } = request;
    const wanted = parseOrThrow(createUserBody, body, ["body"]);
    return reply.code(201).send(await withWallet(await accounts.createUser(wanted)));
  });

  app.patch<WithUsername>("/api/v2/admin/users/:username", async (request) => {
    const { body = {} } = request;
    const change = parseOrThrow(changeUserBody, body, ["body"]);
    return withWallet(await accounts.changeUser(existing(request.params.username), change));
  });

  app.post<WithUsername>("/api/v2/admin/users/:username/keys", async (request, reply) => {
    const { body = {} } = request;
    const wanted = readKeyRequest(body, clock.now());
    const made = await accounts.createKeyFor(existing(request.params.username), wanted);
    return reply.code(201).send(newKeyToWire(made));
  });
}

/** A text that cannot be a username names nobody; it also never reaches the database. */
export function existing(username: string): string {
  if (!usernamePattern.test(username)) throw fault("not_found", "User not found");
  return username;
}
