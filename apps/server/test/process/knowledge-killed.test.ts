import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
} from "../../src/engines/models/test-upstreams/embedding-server.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { call } from "../proof/client.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { testDatabase } from "../support/database.ts";
import { waitFor } from "../support/wait-for.ts";

/** The server is killed several times while it indexes many files. */
let own: Awaited<ReturnType<typeof testDatabase>>;
let upstream: EmbeddingServer;
let cluster: Cluster;
const secret = "sk-killed-0815";
const files = 60;
const sections = 40;
const patienceMs = 120_000;

beforeAll(async () => {
  [own, upstream] = await Promise.all([testDatabase(), startOpenAiEmbeddings(secret)]);
  cluster = await startCluster({ databaseUrl: own.url, nodes: { one: {} } });
  const { url } = cluster.node("one");
  await call(url, "PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  const backend = { type: "openai-embeddings", url: `${upstream.url}/v1`, model: "m", secret: "embedder" };
  const json = { kind: "embedding", title: "E", visibility: "public", capacity: 20, backend };
  const made = await call(url, "PUT", "/api/v1/admin/embed", { json });
  expect(made.status, made.text).toBeLessThan(300);
}, 120_000);

afterAll(async () => {
  await cluster?.close();
  await upstream?.close();
  await own?.drop();
}, 60_000);

const textOf = (file: number) =>
  Array.from({ length: sections }, (_, n) => `# Section ${n}\n\nText ${n} of file ${file}.\n`).join("\n");

test("every file is indexed once, and paid batches are not repeated", async () => {
  const node = cluster.node("one");
  const { id } = (await call(node.url, "POST", "/v1/drives", { json: { name: "Many" } })).body;
  for (let file = 0; file < files; file++) {
    const form = { path: `/dir-${file % 5}/file-${file}.md`, file: new Blob([textOf(file)]) };
    const sent = await call(node.url, "POST", `/v1/drives/${id}/files`, { form });
    expect(sent.status, sent.text).toBe(201);
  }
  const index = { embedding_model: "admin/embed" };
  const changed = await call(node.url, "PATCH", `/v1/drives/${id}`, { json: { index } });
  expect(changed.body.index).toMatchObject({ files, status: "indexing" });

  const { sql } = own.database;
  const indexed = async () =>
    (await sql`select count(*)::int as n from drive_index_files where drive_id = ${id} and status = 'indexed'`)[0]?.n;
  const kills = [5, 15, 30];
  for (const after of kills) {
    await waitFor(`${after} indexed files`, async () => (await indexed()) >= after, patienceMs);
    await node.kill();
    expect(await indexed()).toBeLessThan(files);
    await node.start();
  }
  await waitFor("all files", async () => (await indexed()) === files, patienceMs);

  const { body } = await call(node.url, "GET", `/v1/drives/${id}`);
  expect(body.index).toMatchObject({ status: "ready", files, indexed: files, failed: 0, chunks: files * sections });
  const perFile = await sql`
    select count(*)::int as chunks, count(distinct n)::int as places, count(embedding)::int as vectors
    from drive_chunks where drive_id = ${id} group by path`;
  expect(perFile).toHaveLength(files);
  for (const row of perFile) expect(row).toEqual({ chunks: sections, places: sections, vectors: sections });
  expect(await sql`select 1 from drive_index_vectors`).toHaveLength(0);

  const texts = upstream.seen.flatMap((seen) => JSON.parse(String(seen.body)).input as string[]);
  expect(new Set(texts).size).toBe(files * sections);
  // At each kill at most one batch of 32 texts of each of the four files under way is lost.
  expect(texts.length).toBeLessThanOrEqual(files * sections + kills.length * 4 * 32);
  expect(node.crashes).toEqual([]);
  expect(await verifyLedger(own.database)).toEqual([]);
}, 600_000);
