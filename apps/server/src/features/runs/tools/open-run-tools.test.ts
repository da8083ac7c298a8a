import { randomBytes } from "node:crypto";
import { newId } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type IdpUnderTest, idpUnderTest } from "../../../../test/support/idp-connector.ts";
import { createDocuments } from "../../../engines/documents/create-documents.ts";
import { createNet } from "../../../engines/net/create-net.ts";
import { createQuickjsSandbox } from "../../../engines/sandbox/quickjs-sandbox.ts";
import { createAesVault } from "../../../engines/vault/aes-vault.ts";
import { createThreadVectors } from "../../../engines/vectors/thread-vectors.ts";
import { toolTable } from "../../agents/tools.ts";
import { createDriveSearch } from "../../knowledge/search/index.ts";
import { openSecrets } from "../../secrets/index.ts";
import { type ToolServersUnderTest, toolServersUnderTest } from "../../tool-servers/tool-servers.fixture.ts";
import { createRunTools, type RunTools, type RunToolsDeps } from "./open-run-tools.ts";
import { type PlatformUnderTest, platformUnderTest } from "./platform.fixture.ts";
import { execute, scopeOf } from "./run-scope.fixture.ts";

let platform: PlatformUnderTest;
let t: IdpUnderTest;
let servers: ToolServersUnderTest;
let deps: RunToolsDeps;
let runTools: RunTools;
const net = createNet({ allowPrivateNetwork: false });
const sandbox = createQuickjsSandbox();
const vectors = createThreadVectors();
const documents = createDocuments();
const { signal } = new AbortController();

beforeAll(async () => {
  platform = await platformUnderTest();
  t = await idpUnderTest(platform.database);
  servers = toolServersUnderTest(platform.database);
  const table = toolTable(t.idp.describeTools());
  deps = {
    ...platform.deps,
    drives: platform.drives,
    table,
    net,
    secrets: openSecrets({ database: platform.database, vault: createAesVault(randomBytes(32)) }),
    sandbox,
    documents,
    search: { net },
    driveSearch: createDriveSearch({
      database: platform.database,
      vectors,
      embedQuery: async () => undefined,
      mostQueryCost: async () => 0,
    }),
    toolServers: servers.toolServers,
    idp: t.idp,
  };
  runTools = createRunTools(deps);
});
afterAll(async () => {
  await Promise.all([net, sandbox, vectors, documents].map((engine) => engine.close()));
  await servers.clear();
  await servers.close();
  await t.close();
  await platform.close();
});

test("every tool of the table has an implementation with its name, description and parameters", async () => {
  const scope = scopeOf(t.userId, {
    snapshot: { tools: [...deps.table.keys()], memory: { drive: newId("drive"), path: "/memory.md" } },
  });
  const { tools, missing } = await runTools.toolsFor(scope, { signal });
  expect(missing).toEqual([]);
  expect(tools.map(({ name, description, parameters, kind }) => ({ id: name, description, parameters, kind }))).toEqual(
    [...deps.table.values()].map(({ settings: _ofBinding, ...info }) => info),
  );
  const asking = tools.filter(({ asks }) => asks).map(({ name }) => name);
  const writes = [...deps.table.values()].filter(({ id, kind }) => id.startsWith("idp_") && kind === "write");
  expect(asking).toEqual(["drive_delete", ...writes.map(({ id }) => id)]);
  for (const { name } of tools) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
});

test("a tool without an implementation throws at start", () => {
  const odd = { id: "teleport", description: "", parameters: {}, kind: "write" } as const;
  expect(() => createRunTools({ ...deps, table: new Map([["teleport", odd]]) })).toThrow(
    "tool teleport has no implementation",
  );
});

test("tools are in the agent's order, servers last, without sub-agents; missing ones are listed", async () => {
  const server = await servers.serve();
  const registered = await servers.toolServers.register(t.userId, {
    name: "helper",
    url: server.url,
    connection_type: "streamable_http",
  });
  const snapshot = {
    tools: [
      "run_javascript",
      { type: "agent" as const, agent_id: newId("agent"), name: "helper__echo" },
      { type: "tool" as const, id: "http_request", confirm: "always" as const, arguments: { method: "GET" } },
      "constructor",
      "idp_roles_list",
    ],
    mcp_servers: [{ id: registered.id }, { id: newId("mcpServer") }],
  };
  const { tools, missing } = await runTools.toolsFor(scopeOf(t.userId, { snapshot }), { signal });
  expect(tools.map(({ name }) => name)).toEqual([
    "run_javascript",
    "http_request",
    "idp_roles_list",
    // The plain name belongs to an agent.
    expect.stringMatching(/^helper__echo_[0-9a-f]{8}$/),
  ]);
  expect(missing).toMatchObject([
    { serverName: "Gantry", tool: "constructor", reason: "The tool no longer exists" },
    { serverName: undefined, reason: "The server was deleted" },
  ]);
  const alone = scopeOf(t.userId, { snapshot: { mcp_servers: [{ id: registered.id }] } });
  expect((await runTools.toolsFor(alone, { signal })).tools.map(({ name }) => name)).toEqual(["helper__echo"]);
});

test("the result of a tool can be the argument of the next", async () => {
  const { id: driveId } = await platform.drives.createDrive(t.userId, { name: "d" });
  const scope = scopeOf(t.userId, {
    snapshot: { drives: [driveId], tools: ["run_javascript", "drive_write", "drive_read"] },
  });
  const { tools } = await runTools.toolsFor(scope, { signal });
  const call = async (name: string, given: Record<string, unknown>) => {
    const tool = tools.find((one) => one.name === name);
    if (!tool) throw new Error(`no ${name}`);
    return execute(tool, given);
  };
  const { text: content } = await call("run_javascript", { code: "[3, 1, 2].sort()" });
  await call("drive_write", { path: "/sorted.json", content });
  expect(await call("drive_read", { path: "/sorted.json" })).toEqual({ text: "[1,2,3]", isError: false });
});
