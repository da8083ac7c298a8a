import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { testDatabase } from "../../support/database.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { indexedDrives } from "../../support/indexed-drives.ts";
import { createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "sk-stopped-0815";
let own: Awaited<ReturnType<typeof testDatabase>>;
let home: string;
let upstream: EmbeddingServer;
let gantry: GantryNode | undefined;

beforeAll(async () => {
  own = await testDatabase();
  home = await mkdtemp(join(tmpdir(), "gantry-stopped-"));
  upstream = await startOpenAiEmbeddings(secret);
  gantry = await start();
  await gantry.call("PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  const backend = { type: "openai-embeddings", url: `${upstream.url}/v1`, model: "m-1", secret: "embedder" };
  const pricing = { per_second: 0.01 };
  await createModels(gantry, { embed: { kind: "embedding", visibility: "public", capacity: 4, backend, pricing } });
});
afterAll(async () => {
  await gantry?.close();
  await upstream?.close();
  await own?.drop();
  await rm(home, { recursive: true, force: true });
});

const start = () => startGantry({ beside: { databaseUrl: own.url, database: own.database, home } as GantryNode });

test("a call that a stopping server interrupts costs nothing, and is charged once after the restart", async () => {
  gantry ??= await start();
  upstream.seen.length = 0;
  const key = await gantry.newUser("owner");
  const before = indexedDrives(gantry);
  const drive = await before.create(key, { embedding_model: "admin/embed" });
  upstream.odd.call.push({ kind: "hang" });
  await before.put(drive, "/a.txt", "alpha", key);
  await waitFor("the call of the model", () => upstream.seen.length === 1);
  await gantry.close();
  gantry = undefined;
  const usage = () => own.database.sql`
    select status, price_micros > 0 as is_paid from usage
    where user_id = (select owner_id from drives where id = ${drive}) order by created_at`;
  expect(await usage()).toEqual([{ status: 503, is_paid: false }]);

  gantry = await start();
  await indexedDrives(gantry).settled(drive, key);
  expect(upstream.seen).toHaveLength(2);
  expect(await usage()).toEqual([
    { status: 503, is_paid: false },
    { status: 200, is_paid: true },
  ]);
  expect(await verifyLedger(own.database)).toEqual([]);
});
