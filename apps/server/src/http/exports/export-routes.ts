import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Accounts } from "../../features/accounts/index.ts";
import type { Exports } from "../../features/exports/index.ts";
import { requireUsername } from "../account-api/admin-routes.ts";
import { type Call, route } from "../foundation/route.ts";

const { exportAccount, exportUser } = accountOperations;

export interface ExportRouteDeps {
  accounts: Pick<Accounts, "ownerNamed">;
  exports: Exports;
}

/** All data of an account as one archive, written while it is read. */
export async function exportRoutes(app: FastifyInstance, { accounts, exports }: ExportRouteDeps): Promise<void> {
  async function send(
    username: string,
    {
      caller: asking,
      query,
      request,
      reply,
    }: Pick<Call<typeof exportAccount>, "caller" | "query" | "request" | "reply">,
  ): Promise<FastifyReply> {
    const caller = await accounts.ownerNamed(username);
    const archive = await exports.begin({
      caller,
      personId: asking.team?.member.userId ?? asking.userId,
      base: request.baseUrl,
      withFiles: query.files === "true",
    });
    const filename = `gantry-${username}-${new Date().toISOString().slice(0, 10)}.tar.gz`;
    return reply
      .type("application/gzip")
      .header("content-disposition", `attachment; filename="${filename}"`)
      .header("cache-control", "no-store")
      .send(archive);
  }

  // HEAD would do all the work.
  route(app, exportAccount, { exposeHeadRoute: false }, (call) => send(call.caller.username, call));
  route(app, exportUser, { exposeHeadRoute: false }, (call) => send(requireUsername(call.params.username), call));
}
