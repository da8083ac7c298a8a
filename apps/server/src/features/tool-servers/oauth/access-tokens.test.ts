import { newId } from "@gantry/wire";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import {
  type AuthorizationServer,
  type ProtectedServer,
  signIn,
  startAuthorizationServer,
  startProtectedServer,
} from "../../../../test/support/oauth-servers.ts";
import type { Database, Sql } from "../../../engines/database/database.ts";
import { fault } from "../../../kernel/errors.ts";
import { type ToolServersUnderTest, toolServersUnderTest } from "../tool-servers.fixture.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let issuer: AuthorizationServer;
let protectedServer: ProtectedServer;
let t: ToolServersUnderTest;
let outage: "none" | "before the update" | "after the update" = "none";
const ownerId = newId("user");

/** Rejects one update of tokens as a database does that was away. */
function withOutage(database: Database): Database {
  const unavailable = fault("service_unavailable", "The database is not available.", { retryable: true });
  const sql = new Proxy(database.sql, {
    apply(target, self, args: [TemplateStringsArray]) {
      const query = Reflect.apply(target as unknown as Sql, self, args);
      const [text = ""] = args[0];
      if (outage === "none" || !text.includes("update tool_server_authorizations set sealed_tokens = ")) return query;
      const isDone = outage === "after the update";
      outage = "none";
      return (isDone ? query : Promise.resolve()).then(() => Promise.reject(unavailable));
    },
  });
  return new Proxy(database, { get: (target, name) => (name === "sql" ? sql : Reflect.get(target, name)) });
}

beforeAll(async () => {
  own = await testDatabase();
  await own.database.sql`
    insert into users (id, username, role, plan, created_at) values (${ownerId}, 'ann', 'user', 'free', now())`;
  issuer = await startAuthorizationServer();
  protectedServer = await startProtectedServer(issuer);
  t = toolServersUnderTest(withOutage(own.database));
});
afterAll(async () => {
  await t.close();
  await protectedServer.close();
  await issuer.close();
  await own.drop();
});

let id: string;
beforeEach(async () => {
  const { toolServers } = t;
  const auth = { type: "oauth" as const };
  const given = {
    name: newId("mcpServer"),
    url: protectedServer.url,
    connection_type: "streamable_http" as const,
    auth,
  };
  ({ id } = await toolServers.register(ownerId, given));
  const link = await toolServers.authorize(ownerId, id, "http://127.0.0.1:9");
  const answer = Object.fromEntries(new URL(await signIn(link.url, "ann")).searchParams);
  expect(await toolServers.finishAuthorization(answer)).toMatchObject({ isAuthorized: true, trouble: undefined });
  issuer.asked.length = 0;
});

test.each(["before the update", "after the update"] as const)("refreshed tokens survive an outage %s", async (when) => {
  for (let call = 1; call <= 2; call++) {
    await own.database.sql`update tool_server_authorizations set refresh_at = now() where server_id = ${id}`;
    outage = when;
    expect((await t.toolServers.listTools(ownerId, id)).tools).toHaveLength(1);
  }
  // Each refresh token works once, and none was revoked.
  expect(issuer.asked).toEqual(["refresh_token", "refresh_token"]);
});
