import { request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { idpActionRecord, idpConnectorRecord } from "@gantry/wire";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type AccountsUnderTest, type Answer, accountsUnderTest } from "../../../test/support/account-api.ts";
import { allScopes, type IdpUnderTest, idpUnderTest } from "../../../test/support/idp-connector.ts";
import { waitFor } from "../../../test/support/wait-for.ts";
import { createNet } from "../../engines/net/create-net.ts";
import type { IdpConnector } from "../../features/connectors/idp/index.ts";
import { refusal, tenantState } from "../../features/connectors/idp/tenant-routes.fixture.ts";
import { createServer } from "../foundation/server.ts";
import { agentsApi } from "./agents-api.ts";
import { idpRoutes } from "./idp-routes.ts";

let accounts: AccountsUnderTest;
let t: IdpUnderTest;
let app: FastifyInstance;
let key = "";
let users = 0;

/** The routes on a server of their own, as the surface of the agents platform holds them. */
async function serve(idp: () => IdpConnector): Promise<FastifyInstance> {
  const authenticate = (presented: string) => accounts.accounts.authenticate(presented);
  const server = createServer({ log: t.log, publicUrl: undefined, authenticate });
  const late = new Proxy({} as IdpConnector, { get: (_, name) => idp()[name as keyof IdpConnector] });
  await server.register(agentsApi, { log: t.log, routes: [idpRoutes(late)] });
  return server;
}

beforeAll(async () => {
  accounts = await accountsUnderTest();
  t = await idpUnderTest(accounts.database);
  app = await serve(() => t.idp);
});
afterAll(async () => {
  await app.close();
  await t.close();
  await accounts.close();
});
beforeEach(async () => {
  t.restart();
  t.tenant.state = { ...tenantState(), tokens: t.tenant.state.tokens };
  const name = `user-${++users}`;
  key = await accounts.newUser(name);
  t.tenant.seen.length = 0;
});

async function call(
  method: InjectOptions["method"],
  path: string,
  body?: unknown,
  as = key,
  on = app,
): Promise<Answer> {
  const response = await on.inject({
    method: method ?? "GET",
    url: `/v1/connectors/idp${path}`,
    headers: as === "" ? {} : { "x-api-key": as },
    ...(body !== undefined && { payload: body as object }),
  });
  const json = response.body === "" ? undefined : response.json();
  return { status: response.statusCode, headers: response.headers, text: response.body, body: json };
}

const configure = (token = t.tenant.issue(allScopes)) => call("PUT", "", { domain: t.tenant.domain, token });
const act = (name: string, given?: unknown, confirm?: boolean) =>
  call("POST", `/actions/${name}`, { ...(given !== undefined && { arguments: given }), ...(confirm && { confirm }) });

const routes = [
  ["PUT", ""],
  ["GET", ""],
  ["DELETE", ""],
  ["GET", "/actions"],
  ["POST", "/actions/idp_users_list"],
] as const;

describe.each(routes)("%s %s", (method, path) => {
  it("401 without a key, or with a wrong one", async () => {
    for (const wrong of ["", "gk_000000000000_nothing"]) {
      const answer = await call(method, path, undefined, wrong);
      expect(answer.status).toBe(401);
      expect(answer.body.error).toMatchObject({ type: "unauthorized", code: "unauthorized" });
    }
  });
});

describe("PUT /v1/connectors/idp", () => {
  it("200: checks with one read, stores, shows the last four characters, scopes and expiry", async () => {
    const token = t.tenant.issue(["read:users", "read:tenant_settings"], 7200);
    const answer = await call("PUT", "", { domain: `https://${t.tenant.domain.toUpperCase()}/`, token });
    expect(answer.status).toBe(200);
    expect(idpConnectorRecord.parse(answer.body)).toEqual({
      domain: t.tenant.domain,
      token_last4: token.slice(-4),
      scopes: ["read:users", "read:tenant_settings"],
      expires_at: expect.stringMatching(/Z$/),
      warnings: [],
    });
    expect(t.tenant.seen.map(({ method, path }) => `${method} ${path}`)).toEqual(["GET /api/v2/tenants/settings"]);
    expect((await call("GET", "")).body).toEqual(answer.body);
    expect(answer.text + t.logged()).not.toContain(token);
  });

  it("200: replaces what was stored", async () => {
    await configure();
    const second = t.tenant.issue(["read:tenant_settings"]);
    expect((await configure(second)).status).toBe(200);
    expect((await call("GET", "")).body.scopes).toEqual(["read:tenant_settings"]);
  });

  it.each([[["read:users"]], [[]]])(
    "200 when the tenant answers 403, with a warning that GET repeats",
    async (scopes) => {
      const answer = await configure(t.tenant.issue(scopes));
      expect(answer.status).toBe(200);
      expect(answer.body.warnings).toEqual([expect.stringContaining("read:tenant_settings")]);
      expect((await call("GET", "")).body).toEqual(answer.body);
      const listed = await act("idp_users_list");
      if (scopes.length > 0) expect(listed.body).not.toHaveProperty("warnings");
    },
  );

  it("200 says that the token ends soon, as GET does, and GET says when it has ended", async () => {
    const answer = await configure(t.tenant.issue(allScopes, 1200));
    expect(answer.body.warnings).toEqual([expect.stringMatching(/expires in (19|20) min/)]);
    t.passTime(1_300_000);
    expect((await call("GET", "")).body.warnings).toEqual([expect.stringMatching(/expired at/)]);
  });

  it("200 with a token that says nothing of itself", async () => {
    t.tenant.state.tokens.set("opaque-token-0001", allScopes);
    expect((await configure("opaque-token-0001")).body).toMatchObject({
      token_last4: "0001",
      scopes: null,
      expires_at: null,
      warnings: [expect.stringContaining("does not contain its scopes")],
    });
    expect((await call("GET", "")).body.warnings).toEqual([expect.stringContaining("does not contain its scopes")]);
  });

  it("400 when the tenant answers 401, and what was stored stays", async () => {
    const refused = await configure("wrong-token");
    expect(refused.status).toBe(400);
    expect(refused.body.error).toMatchObject({ type: "invalid_input", details: [{ loc: ["body", "token"] }] });
    expect((await call("GET", "")).status).toBe(404);
    await configure();
    const before = (await call("GET", "")).body;
    expect((await configure("wrong-token")).status).toBe(400);
    expect((await call("GET", "")).body).toEqual(before);
  });

  it.each([
    [{}, ["domain", "token"]],
    [{ domain: 3, token: null }, ["domain", "token"]],
    [{ domain: "t.example.com", token: "long-enough", extra: 1 }, ["extra"]],
    [{ domain: "http://t.example.com", token: "long-enough" }, ["domain"]],
    [{ domain: "t.example.com/api/v2", token: "long-enough" }, ["domain"]],
    [{ domain: "a:b@t.example.com", token: "long-enough" }, ["domain"]],
    [{ domain: "*", token: "long-enough" }, ["domain"]],
    [{ domain: "-", token: "long-enough" }, ["domain"]],
    [{ domain: "a..b", token: "long-enough" }, ["domain"]],
    [{ domain: "t.example.com", token: "Bearer abc.def" }, ["token"]],
    [{ domain: "t.example.com", token: "line\r\nbreak-in" }, ["token"]],
    [{ domain: "t.example.com", token: "short" }, ["token"]],
    [{ domain: "", token: "" }, ["domain", "token"]],
  ])("400 for %j", async (body, fields) => {
    const answer = await call("PUT", "", body);
    expect(answer.status).toBe(400);
    expect(answer.body.error.details.map(({ loc }: { loc: string[] }) => loc.at(-1)).sort()).toEqual(fields);
    expect(t.tenant.seen).toEqual([]);
  });

  it("400 for a private address unless the operator allows it", async () => {
    const net = createNet({ allowPrivateNetwork: false });
    const guarded = await serve(() => t.open({ net }));
    for (const domain of [t.tenant.domain, "127.0.0.1", "10.0.0.1:8443", "[::1]", "169.254.169.254", "2130706433"]) {
      const answer = await call("PUT", "", { domain, token: t.tenant.issue(allScopes) }, key, guarded);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0]).toMatchObject({
        loc: ["body", "domain"],
        message: expect.stringContaining("not allowed"),
      });
    }
    expect(t.tenant.seen).toEqual([]);
    await guarded.close();
    await net.close();
  });

  it("400 for a domain that is not a tenant", async () => {
    t.tenant.script.push(
      { status: 404, body: "<h1>" },
      { status: 200, body: [] },
      { status: 301, headers: { location: "/" } },
    );
    for (let i = 0; i < 3; i++) {
      const answer = await configure();
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].loc).toEqual(["body", "domain"]);
    }
    expect((await call("GET", "")).status).toBe(404);
  });

  it("429 when the tenant's limit is spent, and nothing is stored", async () => {
    t.tenant.script.push({ ...refusal(429, "Too many"), headers: { "retry-after": "900" } });
    const answer = await configure();
    expect(answer.status).toBe(429);
    expect(answer.headers["retry-after"]).toBe("900");
    expect((await call("GET", "")).status).toBe(404);
  });

  it("502 when the tenant fails or cannot be reached, and nothing is stored", async () => {
    for (const status of [500, 408]) {
      t.tenant.script.push(refusal(status, "A"), refusal(status, "B"), refusal(status, "C"));
      const failed = await configure();
      expect(failed.status).toBe(502);
      expect(failed.body.error).toMatchObject({ type: "upstream_error", details: { status } });
    }
    const unreachable = await call("PUT", "", { domain: "localhost:1", token: "some-token" });
    expect(unreachable.status).toBe(502);
    expect(unreachable.body.error).toMatchObject({
      type: "upstream_error",
      details: { status: null, reason: "unreachable" },
    });
    expect((await call("GET", "")).status).toBe(404);
  });
});

describe("GET and DELETE /v1/connectors/idp", () => {
  it("200, 204, then 404", async () => {
    await configure();
    expect((await call("GET", "")).status).toBe(200);
    const removed = await call("DELETE", "");
    expect([removed.status, removed.text]).toEqual([204, ""]);
    expect((await call("GET", "")).status).toBe(404);
    const again = await call("DELETE", "");
    expect(again.status).toBe(404);
    expect(again.body.error.type).toBe("not_found");
  });

  it("each user has a connector of their own", async () => {
    await configure();
    const other = await accounts.newUser(`other-${users}`);
    expect((await call("GET", "", undefined, other)).status).toBe(404);
    expect((await call("DELETE", "", undefined, other)).status).toBe(404);
    expect((await call("POST", "/actions/idp_users_list", {}, other)).status).toBe(404);
    expect((await call("GET", "")).status).toBe(200);
  });
});

describe("GET /v1/connectors/idp/actions", () => {
  it("200 lists all with schema, kind and scopes, also before a tenant is named", async () => {
    const answer = await call("GET", "/actions");
    expect(answer.status).toBe(200);
    expect(answer.body.actions).toHaveLength(60);
    for (const action of answer.body.actions) idpActionRecord.parse(action);
    expect(answer.body.actions.find(({ name }: { name: string }) => name === "idp_client_rotate_secret")).toMatchObject(
      {
        method: "POST",
        path: "/clients/{id}/rotate",
        upstream: { method: "POST", path: "/clients/{id}/rotate-secret" },
        kind: "write",
        destructive: true,
        scopes: ["update:client_keys"],
        parameters: { type: "object", required: ["id"], additionalProperties: false },
        allowed_by_token: null,
      },
    );
  });

  it("200 says which of them the stored token allows", async () => {
    await configure(t.tenant.issue(["read:users"]));
    const { actions } = (await call("GET", "/actions")).body;
    const allowed = (name: string) => actions.find((one: { name: string }) => one.name === name).allowed_by_token;
    expect([allowed("idp_users_list"), allowed("idp_user_delete")]).toEqual([true, false]);
  });
});

describe("POST /v1/connectors/idp/actions/{name}", () => {
  it("200 for a read, with and without arguments, with and without a body", async () => {
    await configure();
    const answer = await act("idp_roles_list", { per_page: 5 });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      result: { start: 0, limit: 5, total: 1, roles: [expect.objectContaining({ id: "rol_1" })] },
    });
    expect((await call("POST", "/actions/idp_roles_list")).status).toBe(200);
    expect((await act("idp_user_get", { id: "google-oauth2|žluť" })).body.result.name).toBe("Žluť");
  });

  it("200 for a confirmed write; 409 confirmation_required for one that is not", async () => {
    await configure();
    t.tenant.seen.length = 0;
    for (const body of [{ arguments: { id: "auth0|ann" } }, { arguments: { id: "auth0|ann" }, confirm: false }]) {
      const asked = await call("POST", "/actions/idp_user_delete", body);
      expect(asked.status).toBe(409);
      expect(asked.body.error).toMatchObject({
        type: "confirmation_required",
        code: "confirmation_required",
        details: {
          method: "DELETE",
          path: "/users/auth0%7Cann",
          body: null,
          tenant: t.tenant.domain,
          destructive: true,
        },
      });
    }
    expect(t.tenant.seen).toEqual([]);
    const done = await act("idp_user_delete", { id: "auth0|ann" }, true);
    expect([done.status, done.body]).toEqual([200, { result: null }]);
    expect(t.tenant.seen.map(({ method }) => method)).toEqual(["DELETE"]);
  });

  it("409 shows the masked body and what changes", async () => {
    await configure();
    const asked = await act("idp_user_update", { id: "auth0|ann", name: "Anna", password: "hunter22" });
    expect(asked.body.error.details).toMatchObject({
      body: { name: "Anna", password: "[hidden]" },
      changes: { name: { old: "Ann", new: "Anna" }, password: { new: "[hidden]" } },
    });
    expect(asked.text + t.logged()).not.toContain("hunter22");
  });

  it("409 conflict when the stored token cannot be opened any more", async () => {
    await configure();
    await t.database.sql`update idp_connectors set sealed_token = '\\x00'`;
    const answer = await act("idp_roles_list");
    expect(answer.status).toBe(409);
    expect(answer.body.error.type).toBe("conflict");
  });

  it("200 gives a rotated secret once, and logs it never", async () => {
    await configure();
    const answer = await act("idp_client_rotate_secret", { id: "cli_1" }, true);
    expect(answer.body.result.client_secret).toBe("fresh-secret-1000");
    expect(t.logged()).not.toContain("fresh-secret-1000");
  });

  it("400 lists all faults of the arguments before anything else, and of the body", async () => {
    const answer = await act("idp_role_permissions_add", { role_id: "..", permissions: [{}], extra: 1 }, true);
    expect(answer.status).toBe(400);
    expect(answer.body.error.type).toBe("invalid_input");
    expect(
      answer.body.error.details
        .map(({ reason, loc }: { reason: string; loc: string[] }) => `${reason} ${loc.slice(2).join(".")}`)
        .sort(),
    ).toEqual([
      "extra_forbidden extra",
      "missing permissions.0.permission_name",
      "missing permissions.0.resource_server_identifier",
      "value_error role_id",
    ]);
    for (const body of [{ arguments: [] }, { arguments: {}, confirm: "yes" }, { args: {} }, [], "text"]) {
      expect((await call("POST", "/actions/idp_users_list", body)).status).toBe(400);
    }
    expect(t.tenant.seen).toEqual([]);
  });

  it("404 for an unknown action, and when no tenant is set up", async () => {
    for (const name of ["idp_nothing", "__proto__", "constructor"]) expect((await act(name)).status).toBe(404);
    const unset = await act("idp_users_list");
    expect(unset.status).toBe(404);
    expect(unset.body.error).toMatchObject({
      type: "not_found",
      message: expect.stringContaining("PUT /v1/connectors/idp"),
    });
    expect((await act("idp_user_delete", { id: "x" })).status).toBe(404);
  });

  it("405 for another method", async () => {
    expect((await call("GET", "/actions/idp_users_list")).status).toBe(405);
  });

  it("429 rate_limit when the waits are used up", async () => {
    await configure();
    t.tenant.script.push({ ...refusal(429, "Too many"), headers: { "retry-after": "120" } });
    const answer = await act("idp_users_list");
    expect(answer.status).toBe(429);
    expect(answer.headers["retry-after"]).toBe("120");
    expect(answer.body.error).toMatchObject({ type: "rate_limit", details: { status: 429, retry_after_seconds: 120 } });
  });

  it.each([401, 403, 404, 408, 409, 400, 500])("502 upstream_error when the tenant answers %d", async (status) => {
    await configure();
    t.tenant.script.push(refusal(status, "No"));
    const answer = await act("idp_role_create", { name: "x" }, true);
    expect(answer.status).toBe(502);
    expect(answer.body.error).toMatchObject({
      type: "upstream_error",
      details: { status, message: "No", what_to_do: expect.any(String) },
    });
  });

  it("499: a client that leaves stops a read", async () => {
    await configure();
    await app.listen({ port: 0, host: "127.0.0.1" });
    const { port } = app.server.address() as AddressInfo;
    t.tenant.seen.length = 0;
    t.tenant.script.push("silence");
    const leaving = httpRequest({
      port,
      method: "POST",
      path: "/v1/connectors/idp/actions/idp_users_list",
      headers: { "x-api-key": key },
    });
    leaving.on("error", () => {});
    leaving.end();
    await waitFor("the tenant to be called", () => t.tenant.seen.length === 1);
    t.tenant.abandoned = 0;
    leaving.destroy();
    await waitFor("the call to be given up", () => t.tenant.abandoned === 1);
    // Nothing was repeated, and nothing was taken for a failure of ours.
    expect(t.tenant.seen).toHaveLength(1);
    expect(t.logged()).not.toContain("Internal server error");
  });
});
