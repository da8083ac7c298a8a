import { afterAll, beforeAll, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { callback, codeIn, personOf, post, rawApp, registerApp } from "../../support/oauth-app.ts";

const page = "https://inspector.example";
let gantry: GantryNode;

beforeAll(async () => {
  gantry = await startGantry({ env: { GANTRY_CORS_ORIGINS: page } });
});
afterAll(async () => {
  await gantry.close();
});

const get = (path: string, headers = {}) => gantry.call("GET", path, { key: "", headers });

test("an app finds the authorization server from the 401 of /mcp", async () => {
  const asked = await gantry.call("POST", "/mcp", { key: "", json: {} });
  const metadataUrl = `${gantry.url}/.well-known/oauth-protected-resource/mcp`;
  expect([asked.status, asked.headers.get("www-authenticate")]).toEqual([
    401,
    `Bearer resource_metadata="${metadataUrl}", scope="mcp"`,
  ]);
  const headers = { authorization: "Bearer wrong" };
  const wrong = await gantry.call("POST", "/mcp", { key: "", headers, json: {} });
  expect(wrong.headers.get("www-authenticate")).toMatch(/^Bearer error="invalid_token", resource_metadata="/);
  const resource = (await get("/.well-known/oauth-protected-resource/mcp")).body;
  expect(resource).toEqual((await get("/.well-known/oauth-protected-resource")).body);
  expect(resource).toMatchObject({ resource: `${gantry.url}/mcp`, authorization_servers: [gantry.url] });
  const server = (await get("/.well-known/oauth-authorization-server")).body;
  expect(server).toMatchObject({
    issuer: gantry.url,
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  });
  for (const name of ["authorization", "token", "registration", "revocation"]) {
    expect(server[`${name}_endpoint`]).toMatch(new RegExp(`^${gantry.url}/oauth/`));
  }
});

test("behind a proxy every address has the public one", async () => {
  const behind = await startGantry({ env: { GANTRY_PUBLIC_URL: "https://gantry.example" }, beside: gantry });
  const asked = await behind.call("POST", "/mcp", { key: "", json: {} });
  expect(asked.headers.get("www-authenticate")).toContain('"https://gantry.example/.well-known/');
  const { body } = await behind.call("GET", "/.well-known/oauth-authorization-server", { key: "" });
  expect([body.issuer, body.token_endpoint]).toEqual(["https://gantry.example", "https://gantry.example/oauth/token"]);
  await behind.close();
});

test("pages of any origin can discover, register and fetch tokens; only listed origins call /mcp", async () => {
  const preflight = (path: string, origin: string) =>
    gantry.call("OPTIONS", path, {
      key: "",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, mcp-protocol-version",
      },
    });
  const anyone = "https://anyone.example";
  const paths = [
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-authorization-server",
    "/oauth/register",
  ];
  for (const path of [...paths, "/oauth/token", "/oauth/revoke"]) {
    const { status, headers } = await preflight(path, anyone);
    expect([path, status, headers.get("access-control-allow-origin")]).toEqual([path, 204, "*"]);
    expect(headers.get("access-control-allow-headers")).toContain("mcp-protocol-version");
    const errors = await gantry.call("POST", path, { key: "", headers: { origin: anyone }, json: {} });
    if (path.startsWith("/oauth")) expect(errors.headers.get("access-control-allow-origin")).toBe("*");
  }
  expect((await preflight("/mcp", anyone)).headers.get("access-control-allow-origin")).toBeNull();
  expect((await preflight("/mcp", page)).headers.get("access-control-allow-origin")).toBe(page);
  const call = (origin: string, key: string) =>
    gantry.call("POST", "/mcp", {
      key,
      headers: { origin, accept: "application/json, text/event-stream" },
      json: { jsonrpc: "2.0", id: 1, method: "tools/list" },
    });
  const unknown = await call(page, "");
  expect([unknown.status, unknown.headers.get("access-control-allow-origin")]).toEqual([401, page]);
  expect(unknown.headers.get("access-control-expose-headers")).toContain("www-authenticate");
  const listed = await call(page, gantry.adminKey);
  expect([listed.status, listed.headers.get("access-control-allow-origin")]).toEqual([200, page]);
  expect((await call(anyone, gantry.adminKey)).status).toBe(403);
});

test("registration is checked and bounded", async () => {
  const made = await registerApp(gantry, {
    client_name: "  Nice\u202e \u0007app  ",
    redirect_uris: [
      callback,
      "https://claude.ai/api/mcp/auth_callback",
      "cursor://anysphere.cursor-mcp/oauth",
      "com.example.app:/cb",
    ],
    logo_uri: "https://evil.example/logo.svg",
  });
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({ client_name: "Nice app", token_endpoint_auth_method: "none", scope: "mcp" });
  expect(made.body.client_secret).toBeUndefined();
  expect(made.headers.get("cache-control")).toBe("no-store");

  const uris = [
    ...[
      "javascript:alert(1)",
      "data:text/html,x",
      "file:///etc/passwd",
      "ms-msdt:/id",
      "about:blank",
      "http://app.example/cb",
    ],
    ...[
      "https://app.example/cb#x",
      "https://user:x@app.example/cb",
      "https://a b.example/",
      "/cb",
      "",
      "http://127.0.0.1.nip.io/",
    ],
    `https://app.example/${"x".repeat(2048)}`,
  ];
  for (const uri of uris) {
    const { status, body } = await registerApp(gantry, { redirect_uris: [uri] });
    expect([uri, status, body?.error]).toEqual([uri, 400, "invalid_redirect_uri"]);
  }
  const many = Array.from({ length: 11 }, (_, n) => `https://app.example/${n}`);
  for (const redirect_uris of [[], many, undefined, "x"]) {
    expect((await registerApp(gantry, { redirect_uris })).body?.error).toBe("invalid_redirect_uri");
  }
  for (const wrong of [
    { grant_types: ["client_credentials"] },
    { token_endpoint_auth_method: "private_key_jwt" },
    { client_name: 7 },
  ]) {
    expect((await registerApp(gantry, wrong)).body?.error).toBe("invalid_client_metadata");
  }
  const large = await registerApp(gantry, { client_uri: "x".repeat(40_000) });
  expect([large.status, large.body.error]).toEqual([400, "invalid_request"]);
  const text = await gantry.call("POST", "/oauth/register", {
    key: "",
    headers: { "content-type": "application/json" },
  });
  expect([text.status, text.body.error]).toEqual([400, "invalid_request"]);
});

test("a confidential app proves its secret, by form or Basic", async () => {
  const registered = await registerApp(gantry, { token_endpoint_auth_method: undefined });
  const { client_id, client_secret, token_endpoint_auth_method } = registered.body;
  expect([token_endpoint_auth_method, typeof client_secret]).toEqual(["client_secret_basic", "string"]);
  const app = await rawApp(gantry);
  const person = await personOf(gantry, await gantry.newUser("confidential"));
  const exchange = async (fields: Record<string, string>, headers = {}) => {
    const code = codeIn(await person.allow(app.link({ client_id })));
    return app.exchange(code, fields, headers);
  };
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${client_id}:${encodeURIComponent(secret)}`).toString("base64")}`,
  });
  expect((await exchange({ client_id, client_secret })).status).toBe(200);
  expect((await exchange({ client_id: "" }, basic(client_secret))).status).toBe(200);
  expect(await exchange({ client_id })).toMatchObject({ status: 401, body: { error: "invalid_client" } });
  const wrong = await exchange({}, basic("wrong"));
  expect([wrong.status, wrong.headers.get("www-authenticate")]).toEqual([401, 'Basic realm="Gantry"']);
});

test("wrong requests to the token endpoint get OAuth's errors", async () => {
  const { clientId: client_id } = await rawApp(gantry);
  const errors = async (fields: Record<string, string>) => (await post(gantry, "/oauth/token", fields)).body?.error;
  expect(await errors({})).toBe("invalid_client");
  expect(await errors({ client_id })).toBe("invalid_request");
  expect(await errors({ client_id, grant_type: "password" })).toBe("unsupported_grant_type");
  expect(await errors({ client_id, grant_type: "refresh_token", refresh_token: "\0" })).toBe("invalid_grant");
  const json = await gantry.call("POST", "/oauth/token", { key: "", json: { client_id } });
  expect([json.status, json.body.error, json.headers.get("cache-control")]).toEqual([
    400,
    "invalid_request",
    "no-store",
  ]);
});

test("a flood of registrations is refused, and connected apps still connect", async () => {
  const app = await rawApp(gantry);
  const person = await personOf(gantry, await gantry.newUser("flooded"));
  await app.exchange(codeIn(await person.allow(app.link())));
  await gantry.database.sql`
    insert into oauth_clients (id, name, redirect_uris) select 'oac_flood_' || n, 'x', '{}' from generate_series(1, 600) n`;
  const full = await registerApp(gantry);
  expect([full.status, full.body.error, full.headers.get("retry-after")]).toEqual([
    429,
    "temporarily_unavailable",
    "600",
  ]);
  const connected = codeIn(await person.allow(app.link()));
  expect((await app.exchange(connected)).status).toBe(200);
});

test("one network cannot use up the registrations of all", async () => {
  const own = await startGantry({ env: { GANTRY_TRUSTED_PROXIES: "127.0.0.0/8" }, beside: gantry });
  await gantry.database.sql`delete from oauth_clients where id like 'oac_flood_%'`;
  const statusFrom = async (address: string) => {
    const json = { redirect_uris: [callback], token_endpoint_auth_method: "none" };
    const headers = { "x-forwarded-for": address };
    return (await own.call("POST", "/oauth/register", { key: "", json, headers })).status;
  };
  for (let n = 0; n < 60; n++) expect(await statusFrom(`2001:db8:1:2::${n}`)).toBe(201);
  expect(await statusFrom("2001:db8:1:2:ffff::1")).toBe(429);
  expect(await statusFrom("2001:db8:1:3::1")).toBe(201);
  await own.close();
});
