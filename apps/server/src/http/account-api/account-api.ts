import type { FastifyInstance } from "fastify";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { accountRoutes } from "./account-routes.ts";
import { adminRoutes } from "./admin-routes.ts";
import type { AccountApiDeps } from "./deps.ts";
import { keyRoutes } from "./key-routes.ts";
import { sessionRoutes } from "./session-routes.ts";
import { teamRoutes } from "./team-routes.ts";

/** Account, money and user management under `/api/v2`. */
export async function accountApi(app: FastifyInstance, deps: AccountApiDeps): Promise<void> {
  acceptEmptyBodies(app);
  accountRoutes(app, deps);
  keyRoutes(app, deps);
  teamRoutes(app, deps);
  sessionRoutes(app, deps);
  adminRoutes(app, deps);
}
