import type { FastifyInstance } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope } from "../foundation/page-query.ts";
import { existing } from "./admin-routes.ts";
import { readDatedListQuery } from "./dated-list-query.ts";
import type { RouteDeps } from "./deps.ts";
import { entryToWire } from "./money-records.ts";

interface WithUsername {
  Params: { username: string };
}

/** Every movement of a wallet: the caller's own, and for an admin anyone's. */
export function ledgerRoutes(app: FastifyInstance, { billing, callerOf }: RouteDeps): void {
  app.get("/api/v2/ledger", async (request) => {
    const { userId } = await callerOf(request);
    return pageOf(userId, request.query);
  });

  app.get<WithUsername>("/api/v2/admin/users/:username/ledger", async (request) => {
    const userId = await billing.userIdOf(existing(request.params.username));
    if (userId === undefined) throw fault("not_found", "User not found");
    return pageOf(userId, request.query);
  });

  async function pageOf(userId: string, query: unknown) {
    const { page, range } = readDatedListQuery(query);
    const { entries, total } = await billing.listLedger(userId, range, page);
    return listEnvelope(entries.map(entryToWire), page, total);
  }
}
