import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createClient } from "../../../../../packages/sdk/src/index.ts";
import type { ScriptedServer } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { type ChunkRow, insertIndex } from "../../../src/features/knowledge/search/chunks.fixture.ts";
import { type AgentRuns, startAgentRuns } from "../../support/agent-runs.ts";
import { meaningDimensions, meaningVector, startMeaningEmbeddings } from "../../support/meaning-embeddings.ts";
import { createModels } from "../../support/models.ts";
import { inTurn } from "../../support/scripted-llm.ts";

let t: AgentRuns;
let embeddings: ScriptedServer;
let other: string;
let driveId: string;

const chunks: ChunkRow[] = [
  { path: "/manual.pdf", page: 3, lines: [10, 24], heading: "Faults › Pump", text: "The pump vibrates at high speed." },
  { path: "/manual.pdf", page: 4, lines: [1, 1], text: "The furnace smells of burnt paint." },
  { path: "/notes/crane.md", lines: [5, 9], text: "Order 77-13: the crane leaks oil." },
  { path: "/readme.txt", text: "How to read these notes." },
];

beforeAll(async () => {
  t = await startAgentRuns();
  embeddings = await startMeaningEmbeddings();
  const backend = { type: "openai-embeddings", url: `${embeddings.url}/v1`, model: "m" };
  const pricing = { per_million_input_tokens: 1000 };
  await createModels(t.gantry, {
    meaning: { kind: "embedding", visibility: "public", capacity: 20, backend, pricing },
  });
  other = await t.gantry.newUser("other", { credit: 10 });
  driveId = await makeDrive();
  const vectors = chunks.map((chunk) => ({ ...chunk, vector: meaningVector(chunk.text) }));
  const [{ owner_id: ownerId } = { owner_id: "" }] = await t.gantry.database.sql<{ owner_id: string }[]>`
    select owner_id from drives where id = ${driveId}`;
  const index = { driveId, ownerId, dimensions: meaningDimensions, model: "admin/meaning" };
  await insertIndex(t.gantry.database, index, vectors);
});
afterAll(async () => {
  await t.close();
  await embeddings.close();
});
beforeEach(() => {
  t.llm.requests.length = 0;
});

async function makeDrive(): Promise<string> {
  const made = await t.gantry.call("POST", "/v1/drives", { json: { name: "Manuals" } });
  expect(made.status, made.text).toBe(201);
  return made.body.id;
}

const search = (query: string, options: { key?: string; drive?: string } = {}) =>
  t.gantry.call(
    "GET",
    `/v1/drives/${options.drive ?? driveId}/search?${query}`,
    options.key ? { key: options.key } : {},
  );
const embeddingsPaidBy = async (key: string) => {
  const { body } = await t.gantry.call("GET", "/api/v2/usage", { key });
  return body.results.filter(({ model_name }: { model_name: string }) => model_name === "admin/meaning").length;
};

test("A drive is searched by words, by meaning and by both, with places to cite", async () => {
  const hybrid = await search("q=our+impeller+shakes&limit=2");
  expect(hybrid.status, hybrid.text).toBe(200);
  expect(hybrid.body).toMatchObject({ mode: "hybrid", is_complete: true });
  expect(hybrid.body.results).toHaveLength(2);
  expect(hybrid.body.results[0]).toEqual({
    path: "/manual.pdf",
    page: 3,
    line_from: 10,
    line_to: 24,
    heading: "Faults › Pump",
    text: "The pump vibrates at high speed.",
    score: expect.any(Number),
  });
  const text = await search("q=77-13&mode=text");
  expect(text.body).toEqual({
    results: [{ ...chunks[2], lines: undefined, line_from: 5, line_to: 9, score: expect.any(Number) }],
    mode: "text",
    is_complete: true,
  });
  expect((await search("q=impeller&mode=text")).body.results).toEqual([]);
  const vector = await search("q=kiln+stinks&mode=vector&limit=1");
  expect(vector.body).toMatchObject({ mode: "vector", results: [{ path: "/manual.pdf", page: 4 }] });
  const gantry = createClient({ url: t.gantry.url, key: t.gantry.adminKey });
  expect(await gantry.drives.search(driveId, "crane oil", { limit: 1 })).toMatchObject({
    mode: "hybrid",
    results: [{ path: "/notes/crane.md" }],
  });
});

test("Search follows the files of an indexed drive", async () => {
  const made = await t.gantry.call("POST", "/v1/drives", {
    json: { name: "Live", index: { embedding_model: "admin/meaning" } },
  });
  expect(made.status, made.text).toBe(201);
  const path = `/v1/drives/${made.body.id}`;
  const ready = () =>
    expect
      .poll(async () => (await t.gantry.call("GET", path)).body.index?.status, { timeout: 30_000, interval: 100 })
      .toBe("ready");
  const paths = async (query: string) => {
    const { body } = await search(query, { drive: made.body.id });
    return [body.mode, ...body.results.map((result: { path: string }) => result.path)];
  };
  for (const [file, content] of Object.entries({ "/a.md": "# Pump\n\nIt leaks.", "/b.txt": "The lamp fades." })) {
    const form = { path: file, file: new Blob([content], { type: "text/plain" }) };
    expect((await t.gantry.call("POST", `${path}/files`, { form })).status).toBe(201);
  }
  await ready();
  expect((await paths("q=impeller+drips"))[1]).toBe("/a.md");
  expect(await paths("q=light+pales&limit=1")).toEqual(["hybrid", "/b.txt"]);
  const form = { file: new Blob(["The crane jams."], { type: "text/plain" }) };
  expect((await t.gantry.call("PUT", `${path}/files/a.md`, { form })).status).toBe(200);
  await ready();
  expect(await paths("q=hoist+blocks&mode=vector&limit=1")).toEqual(["vector", "/a.md"]);
  expect(await paths("q=pump&mode=text")).toEqual(["text"]);
  expect((await t.gantry.call("DELETE", `${path}/files/a.md`)).status).toBe(204);
  expect(await paths("q=hoist+blocks")).toEqual(["hybrid", "/b.txt"]);

  // The vectors of the deleted index are still in memory.
  for (const index of [null, { embedding_model: "admin/meaning" }]) {
    expect((await t.gantry.call("PATCH", path, { json: { index } })).status).toBe(200);
  }
  await ready();
  expect(await paths("q=light+pales&mode=vector&limit=1")).toEqual(["vector", "/b.txt"]);
});

test("A search needs a query, an index and the owner's key", async () => {
  expect((await search("")).status).toBe(400);
  expect((await search("q=%20")).status).toBe(400);
  expect((await search("q=x&mode=magic")).status).toBe(400);
  expect((await search("q=x&limit=51")).status).toBe(400);
  expect((await search("q=pump", { key: other })).status).toBe(404);
  const bare = await search("q=pump", { drive: await makeDrive() });
  expect(bare.status).toBe(409);
  expect(bare.body.error.message).toContain("The drive has no index");
});

test("An agent searches its drives, and cites them", async () => {
  t.llm.script = inTurn(
    { calls: [{ name: "drive_search", args: { query: "impeller shakes", limit: 2 } }] },
    { calls: [{ name: "drive_search", args: { query: "77-13", drive_id: "drv_01hzzzzzzzzzzzzzzzzzzzzzzz" } }] },
    { text: "done" },
  );
  const before = await embeddingsPaidBy(t.gantry.adminKey);
  const agent = await t.makeAgent({ tools: ["drive_search"], drives: [driveId] });
  const done = await t.run(agent);
  expect(done.body, done.text).toMatchObject({ status: "done" });
  const [found] = t.told(1);
  expect(found).toMatch(
    /^\[1\] \/manual\.pdf, page 3, lines 10–24 \(Faults › Pump\)\nThe pump vibrates at high speed\.\n\n\[2\] \//,
  );
  expect(t.told(2).at(-1)).toContain("The agent does not have this drive");
  expect(await embeddingsPaidBy(t.gantry.adminKey)).toBe(before + 1);
  // Two model calls and one embedding of eight tokens, for which $0.008 are charged.
  expect(done.body.cost).toBeGreaterThanOrEqual(0.008);
});

test("Another user's run searches the creator's drive and pays for it", async () => {
  t.llm.script = inTurn({ calls: [{ name: "drive_search", args: { query: "kiln" } }] }, { text: "done" });
  const agent = await t.makeAgent({ tools: ["drive_search"], drives: [driveId], visibility: "public" });
  const done = await t.run(agent, {}, { key: other });
  expect(done.body, done.text).toMatchObject({ status: "done" });
  expect(t.told(1)[0]).toContain("[1] /manual.pdf, page 4, line 1\nThe furnace smells of burnt paint.");
  expect(await embeddingsPaidBy(other)).toBe(1);

  t.llm.requests.length = 0;
  t.llm.script = inTurn({ calls: [{ name: "drive_search", args: { query: "kiln" } }] }, { text: "done" });
  const memory = { drive: driveId, path: "/manual.pdf" };
  const remembering = await t.makeAgent({ tools: ["drive_search"], drives: [driveId], memory, visibility: "public" });
  expect((await t.run(remembering, {}, { key: other })).body).toMatchObject({ status: "done" });
  expect(t.told(1)[0]).toContain("/readme.txt");
  expect(t.told(1)[0]).not.toContain("/manual.pdf");
});

test("A search that could exceed the cost limit of the run is not done", async () => {
  t.llm.script = inTurn({ calls: [{ name: "drive_search", args: { query: "kiln" } }] }, { text: "done" });
  const agent = await t.makeAgent({ tools: ["drive_search"], drives: [driveId] });
  const before = await embeddingsPaidBy(t.gantry.adminKey);
  const run = await t.run(agent, { max_cost: 0.05 });
  expect(run.body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
  expect(await embeddingsPaidBy(t.gantry.adminKey)).toBe(before);
});

test("An agent learns that a drive has no index, or is still being indexed", async () => {
  const bare = await makeDrive();
  t.llm.script = inTurn(
    { calls: [{ name: "drive_search", args: { query: "pump", drive_id: bare } }] },
    { calls: [{ name: "drive_search", args: { query: "zzz yyy", drive_id: driveId } }] },
    { text: "done" },
  );
  const { sql } = t.gantry.database;
  await sql`update drive_index_files set status = 'pending', due_at = now() + interval '1 hour' where path = '/readme.txt'`;
  const agent = await t.makeAgent({ tools: ["drive_search"], drives: [driveId, bare] });
  expect((await t.run(agent)).body).toMatchObject({ status: "done" });
  expect(t.told(1)[0]).toContain("The drive has no index");
  expect(t.told(2).at(-1)).toContain("Some files are still being indexed");
});
