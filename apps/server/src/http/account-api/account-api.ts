import type { FastifyInstance } from "fastify";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { requireCaller } from "../foundation/require-caller.ts";
import { adminRoutes } from "./admin-routes.ts";
import type { AccountApiDeps, RouteDeps } from "./deps.ts";
import { expensesRoutes } from "./expenses-routes.ts";
import { keyRoutes } from "./key-routes.ts";
import { ledgerRoutes } from "./ledger-routes.ts";
import { meRoute } from "./me-route.ts";
import { moneyRoutes } from "./money-routes.ts";
import { openApiRoute } from "./openapi-route.ts";
import { planRoutes } from "./plan-routes.ts";
import { signInLinkRoutes } from "./sign-in-link-routes.ts";
import { usageRoute } from "./usage-route.ts";

/** The account, money and user management routes under `/api/v2`, and the expenses of a user under its name. Register it as a plugin. */
export async function accountApi(app: FastifyInstance, deps: AccountApiDeps): Promise<void> {
  const callerOf = requireCaller(deps.accounts.authenticate);
  const routeDeps: RouteDeps = { ...deps, callerOf };
  // Before the body is read: whoever has no key sends nothing that is looked at.
  app.addHook("onRequest", async (request) => {
    await callerOf(request);
  });
  acceptEmptyBodies(app);
  openApiRoute(app, routeDeps);
  meRoute(app, routeDeps);
  keyRoutes(app, routeDeps);
  signInLinkRoutes(app, routeDeps);
  usageRoute(app, routeDeps);
  expensesRoutes(app, routeDeps);
  ledgerRoutes(app, routeDeps);
  adminRoutes(app, routeDeps);
  planRoutes(app, routeDeps);
  moneyRoutes(app, routeDeps);
}
