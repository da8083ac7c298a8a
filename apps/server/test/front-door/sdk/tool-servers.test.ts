import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient, type GantryClient, type GantryError } from "../../../../../packages/sdk/src/index.ts";
import { everythingServer } from "../../../src/engines/tools/everything-server.fixture.ts";
import {
  type Script,
  type ScriptedServer,
  scriptedServer,
} from "../../../src/engines/tools/scripted-server.fixture.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let client: GantryClient;
let stranger: GantryClient;
const scripted: ScriptedServer[] = [];

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  stranger = createClient({ url: gantry.url, key: await gantry.newUser("stranger") });
});
afterAll(async () => {
  await gantry.close();
  await Promise.all(scripted.map((server) => server.close()));
});

const failureOf = (promise: Promise<unknown>): Promise<GantryError> =>
  promise.then(
    () => Promise.reject(new Error("it did not fail")),
    (error) => error,
  );

async function serve(script: Script = {}): Promise<ScriptedServer> {
  const server = await scriptedServer(script);
  scripted.push(server);
  return server;
}

let registered = 0;
const register = (url: string) =>
  client.toolServers.create({ name: `srv${++registered}`, url, connection_type: "streamable_http" });

describe("tool servers", () => {
  test.each(["streamable_http", "sse"] as const)("over %s are registered and list their tools", async (type) => {
    const server = await everythingServer(type);
    const made = await client.toolServers.create({ name: `every-${type}`, url: server.url, connection_type: type });
    expect(made).toMatchObject({ name: `every-${type}`, url: server.url, status: "connected", auth: null });
    const tools = await client.toolServers.tools(made.id);
    expect(tools.find(({ name }) => name === "get-sum")).toMatchObject({
      description: expect.any(String),
      parameters: { required: ["a", "b"] },
    });
    await server.kill();
    const gone = await failureOf(client.toolServers.tools(made.id));
    expect(gone).toMatchObject({ status: 502, type: "upstream_error" });
    expect((await client.toolServers.get(made.id)).status).toBe("unreachable");
    await client.toolServers.delete(made.id);
  });

  test("are read, listed, iterated, changed and deleted; credentials are never returned", async () => {
    const { url } = await serve();
    const owner = createClient({ url: gantry.url, key: await gantry.newUser("owner") });
    const made = [];
    for (const name of ["one", "two", "three"]) {
      const auth = { type: "bearer", token: "a-secret-token" } as const;
      made.unshift(await owner.toolServers.create({ name, url, connection_type: "streamable_http", auth }));
    }
    const [newest] = made;
    expect(newest).toMatchObject({ id: expect.stringMatching(/^mcp_/), auth: { type: "bearer" }, last_error: null });
    expect(await owner.toolServers.list({ limit: 2 })).toEqual({
      mcp_servers: made.slice(0, 2),
      total: 3,
      limit: 2,
      offset: 0,
    });
    expect(await Array.fromAsync(owner.toolServers.each())).toEqual(made);
    const id = newest?.id ?? "";
    expect(await owner.toolServers.get(id)).toEqual(newest);
    const keyed = { type: "api_key", header: "X-Key", value: "another-secret" } as const;
    const changed = await owner.toolServers.update(id, { name: "renamed", auth: keyed });
    expect(changed).toMatchObject({ name: "renamed", auth: { type: "api_key", header: "X-Key" } });
    expect(JSON.stringify([made, changed])).not.toContain("secret");
    expect(await owner.toolServers.update(id, { auth: null })).toMatchObject({ auth: null });
    expect(await owner.toolServers.delete(id)).toBeUndefined();
    expect(await failureOf(owner.toolServers.get(id))).toMatchObject({ status: 404, type: "not_found" });
  });

  test("of another user are hidden; invalid ones, taken names and servers in use get their own errors", async () => {
    const { url } = await serve();
    const { id, name } = await register(url);
    for (const call of [
      () => stranger.toolServers.get(id),
      () => stranger.toolServers.update(id, { name: "mine" }),
      () => stranger.toolServers.delete(id, { force: true }),
      () => stranger.toolServers.tools(id),
    ]) {
      expect(await failureOf(call())).toMatchObject({ status: 404, type: "not_found" });
    }
    const wrong = { name: "no spaces", url: "ftp://x", connection_type: "sse" } as const;
    const refused = await failureOf(client.toolServers.create(wrong));
    expect(refused).toMatchObject({ status: 400, type: "invalid_input" });
    expect(refused.issues.map(({ loc }) => loc.join(".")).sort()).toEqual(["body.name", "body.url"]);
    expect((await failureOf(client.toolServers.update(id, {}))).status).toBe(400);
    const twice = client.toolServers.create({ name, url, connection_type: "streamable_http" });
    expect(await failureOf(twice)).toMatchObject({ status: 409, type: "conflict" });
    const agent = await client.agents.create({ name: "User", goal: "Use it.", tools: [], mcp_servers: [{ id }] });
    expect(await failureOf(client.toolServers.delete(id))).toMatchObject({
      status: 409,
      type: "conflict",
      details: { agents: [{ id: agent.id, name: "User" }] },
    });
    await client.toolServers.delete(id, { force: true });
  });

  test("that do not answer can be aborted", async () => {
    let asked = 0;
    const server = await serve();
    const { id } = await register(server.url);
    server.script = { "on tools/list": () => void asked++ };
    const leaving = new AbortController();
    const asking = client.toolServers.tools(id, { signal: leaving.signal });
    await waitFor("the question", () => asked === 1);
    leaving.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(asked).toBe(1);
  });
});

describe("the marketplace", () => {
  test("lists public agents in pages, and an agent is run and paid by creator and slug", async () => {
    const creator = createClient({ url: gantry.url, key: await gantry.newUser("creator") });
    const slugs: string[] = [];
    for (const name of ["Lighthouse one", "Lighthouse two", "Lighthouse three"]) {
      const { id, slug } = await creator.agents.create({
        name,
        goal: "Say hello.",
        tools: [],
        model: "gantry/rules",
        visibility: "public",
        pricing: { per_run: 0.25 },
      });
      await creator.agents.publish(id);
      slugs.unshift(slug);
    }
    const { id: hidden } = await creator.agents.create({ name: "Lighthouse secret", goal: "Hide.", tools: [] });
    await creator.agents.publish(hidden);
    const page = await client.marketplace.list({ q: "lighthouse", limit: 2 });
    expect(page).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(page.agents.map(({ slug }) => slug)).toEqual(slugs.slice(0, 2));
    const cards = await Array.fromAsync(client.marketplace.each({ q: "lighthouse" }));
    expect(cards.map(({ slug }) => slug)).toEqual(slugs);
    expect(cards[0]).toMatchObject({ owner: "creator", status: "published", pricing: { per_run: 0.25 } });
    expect(cards[0]).not.toHaveProperty("goal");
    const run = await stranger.runs.create(`creator/${slugs[0]}`, { input: {}, wait: 20 });
    expect(run).toMatchObject({ status: "done", cost: 0.25 });
    expect((await creator.me()).balance).toBe(10.25);
    expect((await stranger.me()).balance).toBe(9.75);
    expect((await creator.runs.list({ agent_id: cards[0]?.id ?? "" })).runs[0]).toMatchObject({ earned: 0.25 });
    expect(await Array.fromAsync(client.marketplace.each({ q: "nothing like it" }))).toEqual([]);
    const wrong = await failureOf(client.marketplace.list({ q: "x".repeat(201), offset: -1 }));
    expect(wrong).toMatchObject({ status: 400, type: "invalid_input" });
    expect(wrong.issues.map(({ loc }) => loc.join(".")).sort()).toEqual(["query.offset", "query.q"]);
    expect(await failureOf(stranger.runs.create("creator/none", { input: {} }))).toMatchObject({ status: 404 });
  });
});
