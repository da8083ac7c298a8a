import { isId, type PlanRecord, type TakeDownRecord, type UserRecord, usernamePattern } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { type Plan, readKeyChange, readKeyRequest, type User } from "../../features/accounts/index.ts";
import type { Agents, AgentWithRevision } from "../../features/agents/index.ts";
import { readCreditRequest, type Wallet } from "../../features/billing/index.ts";
import type { Marketplace } from "../../features/marketplace/index.ts";
import type { Model, Models } from "../../features/models/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";
import type { AccountApiDeps } from "./deps.ts";
import { readDatedListQuery } from "./money-queries.ts";
import {
  creditToWire,
  deletionToWire,
  entryToWire,
  keyToWire,
  ledgerToWire,
  newKeyToWire,
  overviewToWire,
  userToWire,
} from "./records.ts";

const operations = accountOperations;

export function adminRoutes(app: FastifyInstance, deps: AccountApiDeps): void {
  userRoutes(app, deps);
  walletRoutes(app, deps);
  planRoutes(app, deps);
}

/** Keeps text that cannot be a username from the database. */
export function requireUsername(username: string): string {
  if (!usernamePattern.test(username)) throw fault("not_found", "User not found");
  return username;
}

/** Keeps text that cannot be an id from the database. */
export function requireKeyId(text: string): string {
  if (!isId("key", text)) throw fault("not_found", "Key not found");
  return text;
}

function userRoutes(app: FastifyInstance, { accounts, billing, notices, clock }: AccountApiDeps): void {
  const withWallets = async (users: readonly User[]) => {
    const ids = users.map(({ id }) => id);
    const [wallets, low] = await Promise.all([billing.walletsOf(ids), notices.lowBalances(ids)]);
    return users.map((user, n) => userToWire(user, wallets[n] as Wallet, low.has(user.id)));
  };
  const withWallet = async (user: User) => (await withWallets([user]))[0] as UserRecord;

  route(app, operations.listUsers, async ({ query }) => {
    const { entries, total } = await accounts.listUsers(rangeOf(query), query.kind);
    return listEnvelope(await withWallets(entries), query, total);
  });

  route(app, operations.createUser, async ({ body }) => withWallet(await accounts.createUser(body)));

  route(app, operations.readUser, async ({ params }) =>
    withWallet(await accounts.readUser(requireUsername(params.username))),
  );

  route(app, operations.changeUser, async ({ caller, params, body }) =>
    withWallet(await accounts.changeUser(requireUsername(params.username), body, caller)),
  );

  route(app, operations.deleteUser, async ({ params }) =>
    deletionToWire(await accounts.deleteAccount(requireUsername(params.username))),
  );

  route(app, operations.listKeysOf, async ({ params, query }) => {
    const { entries, total } = await accounts.listKeysOf(requireUsername(params.username), rangeOf(query));
    return listEnvelope(entries.map(keyToWire), query, total);
  });

  route(app, operations.changeKeyOf, { unchecked: "body" }, async ({ params, body = {} }) => {
    const change = readKeyChange(body, clock.now());
    return keyToWire(await accounts.changeKeyOf(requireUsername(params.username), requireKeyId(params.id), change));
  });

  route(app, operations.revokeKeyOf, async ({ params: { username, id } }) => {
    await accounts.revokeKeyOf(requireUsername(username), requireKeyId(id));
  });

  route(app, operations.createKeyFor, { unchecked: "body" }, async ({ params, body = {} }) => {
    const wanted = readKeyRequest(body, clock.now());
    return newKeyToWire(await accounts.createKeyFor(requireUsername(params.username), wanted));
  });
}

function walletRoutes(app: FastifyInstance, { billing, keeps }: AccountApiDeps): void {
  route(app, operations.creditUser, { unchecked: "body" }, async ({ caller, params, body = {}, request }) => {
    const credited = await billing.creditUser({
      adminId: caller.userId,
      username: requireUsername(params.username),
      request: readCreditRequest(body),
      idempotencyKey: request.headers["idempotency-key"],
    });
    return creditToWire(credited);
  });

  route(app, operations.listLedgerOf, { unchecked: "query" }, async ({ params, query }) => {
    const userId = await billing.userIdOf(requireUsername(params.username));
    if (userId === undefined) throw fault("not_found", "User not found");
    const { page, range } = readDatedListQuery(query);
    const { entries, total } = await billing.listLedger(userId, range, rangeOf(page));
    return listEnvelope(entries.map(entryToWire), page, total);
  });

  route(app, operations.checkLedger, async () => ledgerToWire(await billing.checkBooks()));

  route(app, operations.readOverview, async () => overviewToWire(await billing.readOverview(), keeps));
}

function planRoutes(app: FastifyInstance, { accounts }: AccountApiDeps): void {
  route(app, operations.listPlans, async ({ query }) => {
    const { entries, total } = await accounts.listPlans(rangeOf(query));
    return listEnvelope(entries.map(planToWire), query, total);
  });

  route(app, operations.putPlan, async ({ params, body, reply }) => {
    const { plan, created } = await accounts.putPlan(params.name, body);
    if (created) reply.code(201);
    return planToWire(plan);
  });

  route(app, operations.deletePlan, async ({ params }) => {
    await accounts.deletePlan(params.name);
  });
}

function planToWire({ name, requestsPerMinute, parallel, storageBytes, users }: Plan): PlanRecord {
  return { name, requests_per_minute: requestsPerMinute, parallel, storage_bytes: storageBytes, users };
}

export interface TakeDownDeps {
  agents: Pick<Agents, "takeDownAgent" | "restoreAgent">;
  models: Pick<Models, "takeDownModel" | "restoreTakenDownModel">;
  marketplace: Pick<Marketplace, "listTakeDowns">;
}

/** Takes agents and models off the marketplace and the public list. */
export async function takeDownRoutes(
  app: FastifyInstance,
  { agents, models, marketplace }: TakeDownDeps,
): Promise<void> {
  acceptEmptyBodies(app);

  route(app, operations.listTakeDowns, async ({ query }) => {
    const { entries, total } = await marketplace.listTakeDowns(rangeOf(query));
    const records = entries.map(({ kind, id, owner, name, takenDown }) =>
      takeDownToWire({ kind, id, owner, name, visibility: "private", takenDown }),
    );
    return listEnvelope(records, query, total);
  });

  route(app, operations.takeDownAgent, async ({ params, body }) =>
    agentToWire(await agents.takeDownAgent(params.id, body.reason)),
  );
  route(app, operations.restoreAgent, async ({ params }) => agentToWire(await agents.restoreAgent(params.id)));

  route(app, operations.takeDownModel, async ({ params: { owner, name }, body }) =>
    modelToWire(await models.takeDownModel(`${owner}/${name}`, body.reason)),
  );
  route(app, operations.restoreModel, async ({ params: { owner, name } }) =>
    modelToWire(await models.restoreTakenDownModel(`${owner}/${name}`)),
  );
}

type TakenDown = Omit<TakeDownRecord, "taken_down"> & { takenDown: TakeDownRecord["taken_down"] };

/** Leaves out the internal fields of the stored mark. */
function takeDownToWire({ takenDown, ...record }: TakenDown): TakeDownRecord {
  return { ...record, taken_down: takenDown && { at: takenDown.at, reason: takenDown.reason } };
}

function agentToWire({ agent, revision }: AgentWithRevision): TakeDownRecord {
  const { id, owner, visibility, takenDown } = agent;
  return takeDownToWire({ kind: "agent", id, owner, name: revision.snapshot.name, visibility, takenDown });
}

function modelToWire({ endpointId, owner, manifest, takenDown }: Model): TakeDownRecord {
  const { title, visibility } = manifest;
  return takeDownToWire({ kind: "model", id: endpointId, owner, name: title, visibility, takenDown });
}
