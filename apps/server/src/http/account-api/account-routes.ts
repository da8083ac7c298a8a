import { Readable } from "node:stream";
import { firstSegments, type MeRecord, type UsageRecord, usernamePattern } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  type Caller,
  everythingOf,
  isConfined,
  mayAdministrate,
  type Scope,
  scopeOf,
} from "../../features/accounts/index.ts";
import type { UsageRow } from "../../features/billing/index.ts";
import { isAdmin } from "../../features/models/index.ts";
import { fault } from "../../kernel/errors.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { prefersOverJson } from "../foundation/preferred-type.rules.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { route } from "../foundation/route.ts";
import type { AccountApiDeps } from "./deps.ts";
import { readDatedListQuery, readExpensesQuery, readSeriesQuery } from "./money-queries.ts";
import { entryToWire, expensesToWire, usageToWire } from "./records.ts";
import { csvHeader, csvLines } from "./usage-csv.rules.ts";

const { readMe, listUsage, listLedger, readExpenses, readSeries } = accountOperations;

export function accountRoutes(app: FastifyInstance, { billing, series, storageOf, version }: AccountApiDeps): void {
  app.get("/api/v2/openapi.json", async (request) => {
    // Loaded on demand: the document is large.
    const { accountDocument } = await import("@gantry/wire/openapi");
    return accountDocument(request.baseUrl, version);
  });

  route(app, readMe, ({ caller }) => readAccount({ billing, storageOf }, caller));

  route(app, listUsage, { unchecked: "query" }, async ({ caller, request, reply }) => {
    const scope = scopeOf(caller);
    const { page, wantsPage, range } = readDatedListQuery(request.query);
    const toWire = (row: UsageRow) => usageToWire(row, viewerOf(caller));
    reply.header("vary", "Accept");
    if (!prefersOverJson(request.headers.accept, "text/csv")) {
      const { entries, total } = await billing.listUsage(scope, range, rangeOf(page));
      return listEnvelope(entries.map(toWire), page, total);
    }
    const portions = wantsPage
      ? [(await billing.listUsage(scope, range, rangeOf(page))).entries]
      : await billing.exportUsage(scope, range);
    return reply
      .type("text/csv; charset=utf-8; header=present")
      .header("content-disposition", 'attachment; filename="usage.csv"')
      .send(Readable.from(asCsv(portions, toWire), { highWaterMark: 1 }));
  });

  route(app, listLedger, { unchecked: "query" }, async ({ caller, query }) => {
    const { page, range } = readDatedListQuery(query);
    const { entries, total } = await billing.listLedger(caller.userId, range, rangeOf(page));
    return listEnvelope(entries.map(entryToWire), page, total);
  });

  route(app, readSeries, { unchecked: "query" }, async ({ caller, query }) => {
    const { scope, username, ...request } = readSeriesQuery(query);
    if (scope === "service") {
      if (!administrates(caller)) throw fault("forbidden", "Only admins may read the figures of the service");
      return series.read("everyone", request);
    }
    return series.read(await viewable(caller, username ?? caller.username, "figures"), request);
  });

  const administrates = (caller: Caller): boolean => caller.role === "admin" && mayAdministrate(caller);

  /** Refuses a caller who may not look before reading the query. */
  async function viewable(caller: Caller, username: string, what = "expenses"): Promise<Scope> {
    if (username === caller.username) return scopeOf(caller);
    const userId = usernamePattern.test(username) ? await billing.userIdOf(username) : undefined;
    if (userId === undefined) throw fault("not_found", "User not found");
    if (!administrates(caller)) throw fault("forbidden", `Only the user itself and an admin may see these ${what}`);
    return everythingOf(userId);
  }

  const sendExpenses = async (request: FastifyRequest<{ Params: { username: string } }>) => {
    const scope = await viewable(await callerOf(request), request.params.username);
    const query = readExpensesQuery(request.query);
    return expensesToWire(await billing.readExpenses(scope, query), query.page);
  };
  for (const { prefix, otherRoutes } of expensesAddresses) {
    const url = `${prefix}/:username(^(?!(?:${otherRoutes.join("|")})$).*$)/expenses`;
    app.get(url, sendExpenses);
    app.all(`${url}/:id`, {
      // Before the body is read.
      onRequest: async () => {
        throw fault("method_not_allowed", "A single expense has no address of its own", { headers: { allow: "" } });
      },
      handler: async () => {},
    });
  }
}

export async function readAccount(
  { billing, storageOf }: Pick<AccountApiDeps, "billing" | "storageOf">,
  { userId, username, role, plan, team }: Caller,
): Promise<MeRecord> {
  const [{ balance, reserved }, { used, allowed }] = await Promise.all([billing.walletOf(userId), storageOf(userId)]);
  return {
    id: userId,
    username,
    kind: team ? "team" : "person",
    role,
    team_role: team?.role ?? null,
    acting_user: team?.member.username ?? null,
    plan,
    balance: dollarsOfMicros(balance),
    reserved: dollarsOfMicros(reserved),
    currency: "USD",
    storage: { used_bytes: used, allowed_bytes: allowed ?? null },
  };
}

/** Where expenses are served, and the first segments there that belong to other routes and so are not usernames. */
const expensesAddresses = [
  { prefix: "", otherRoutes: firstSegments },
  { prefix: readExpenses.base, otherRoutes: ["keys", "teams", "secrets", "aliases", "providers", "sessions"] },
];

/** Reads each portion when the client has received the one before. */
async function* asCsv(
  portions: AsyncIterable<UsageRow[]> | Iterable<UsageRow[]>,
  toWire: (row: UsageRow) => UsageRecord,
): AsyncGenerator<string> {
  yield csvHeader;
  for await (const rows of portions) if (rows.length > 0) yield csvLines(rows.map(toWire));
}

function viewerOf(caller: Caller): Parameters<typeof usageToWire>[1] {
  if (isAdmin(caller)) return "admin";
  return isConfined(caller) ? undefined : caller;
}
