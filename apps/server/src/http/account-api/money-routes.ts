import type { FastifyInstance } from "fastify";
import { readCreditRequest } from "../../features/billing/index.ts";
import { existing } from "./admin-routes.ts";
import type { RouteDeps } from "./deps.ts";
import { creditToWire, ledgerToWire, overviewToWire } from "./money-records.ts";

interface WithUsername {
  Params: { username: string };
}

/** What an admin does with money. */
export function moneyRoutes(app: FastifyInstance, { billing, callerOf }: RouteDeps): void {
  app.post<WithUsername>("/api/v2/admin/users/:username/credits", async (request, reply) => {
    const { body = {} } = request;
    const credited = await billing.creditUser({
      adminId: (await callerOf(request)).userId,
      username: existing(request.params.username),
      request: readCreditRequest(body),
      idempotencyKey: request.headers["idempotency-key"],
    });
    return reply.code(201).send(creditToWire(credited));
  });

  app.get("/api/v2/admin/ledger", async () => ledgerToWire(await billing.checkBooks()));

  app.get("/api/v2/admin/overview", async () => overviewToWire(await billing.readOverview()));
}
