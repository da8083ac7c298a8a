import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type EmbeddingServer,
  startOpenAiEmbeddings,
  vectorOf,
} from "../../../src/engines/models/test-upstreams/embedding-server.ts";
import { jsonReply, startScripted } from "../../../src/engines/models/test-upstreams/scripted-server.ts";
import { verifyLedger } from "../../../src/features/billing/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { indexedDrives } from "../../support/indexed-drives.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

const secret = "sk-embeddings-0815";
let gantry: GantryNode;
let upstream: EmbeddingServer;
let drives: ReturnType<typeof indexedDrives>;

beforeAll(async () => {
  upstream = await startOpenAiEmbeddings(secret);
  gantry = await startGantry();
  await gantry.call("PUT", "/api/v2/secrets/embedder", { json: { value: secret } });
  const backend = { type: "openai-embeddings", url: `${upstream.url}/v1`, model: "m-1", secret: "embedder" };
  const embedding = { kind: "embedding", visibility: "public", capacity: 20, backend };
  await createModels(gantry, {
    embed: { ...embedding, pricing: { per_million_input_tokens: 1000 } },
    second: { ...embedding, backend: { ...backend, model: "m-2" } },
    chat: chatModel(upstream.url),
  });
  drives = indexedDrives(gantry);
});
afterAll(async () => {
  expect(await verifyLedger(gantry.database)).toEqual([]);
  await gantry.close();
  await upstream.close();
});
beforeEach(() => {
  upstream.seen.length = 0;
  upstream.odd.call.length = 0;
});

/** Texts that the upstream was asked for, by the name of its model. */
const asked = (model = "m-1") =>
  upstream.seen
    .map(({ body }) => JSON.parse(String(body)))
    .filter((request) => request.model === model)
    .flatMap(({ input }) => [input].flat() as string[]);

const change = (drive: string, key: string, json: object) => gantry.call("PATCH", `/v1/drives/${drive}`, { key, json });
const due = (drive: string) => gantry.database.sql`update drive_indexes set retry_at = now() where drive_id = ${drive}`;
const spent = async (key: string) => {
  const { body } = await gantry.call("GET", "/api/v2/me", { key });
  return body.balance;
};

describe("with an embedding model", () => {
  test("chunks have vectors, which the owner pays for like any call", async () => {
    const key = await gantry.newUser("payer");
    const before = await spent(key);
    const drive = await drives.create(key, { embedding_model: "admin/embed" });
    await drives.put(drive, "/a.md", "# Head\n\nSome text.", key);
    await drives.put(drive, "/b.txt", "Other text.", key);
    await drives.settled(drive, key);
    expect((await drives.chunks(drive)).map(({ dimensions }) => dimensions)).toEqual([4, 4]);
    expect(asked().toSorted()).toEqual(["Head\n# Head\n\nSome text.", "Other text."]);
    expect(await spent(key)).toBeLessThan(before);
    const [{ norm }] = (await gantry.database.sql`
      select embedding from drive_chunks where drive_id = ${drive} limit 1`.then((rows) =>
      rows.map(({ embedding }) => {
        const vector = new Float32Array(new Uint8Array(embedding).buffer);
        return { norm: Math.hypot(...vector) };
      }),
    )) as [{ norm: number }];
    expect(norm).toBeCloseTo(1, 5);
  });

  test("only changed chunks of a rewritten file are paid for again", async () => {
    const key = await gantry.newUser("editor");
    const drive = await drives.create(key, { embedding_model: "admin/embed" });
    const sections = Array.from({ length: 40 }, (_, n) => `# Section ${n}\n\nText of ${n}.\n`);
    await drives.put(drive, "/long.md", sections.join("\n"), key);
    await drives.settled(drive, key);
    expect(asked()).toHaveLength(40);
    // A batch is at most 32 texts.
    expect(upstream.seen.length).toBe(2);
    upstream.seen.length = 0;
    await drives.put(drive, "/long.md", [...sections, "# New\n\nAdded."].join("\n"), key);
    await drives.settled(drive, key);
    expect(asked()).toEqual(["New\n# New\n\nAdded."]);
    expect(await drives.chunks(drive)).toHaveLength(41);
  });

  test("another model, also behind an alias, makes all vectors again", async () => {
    const key = await gantry.newUser("switcher");
    const alias = (model: string) => gantry.call("PUT", "/api/v2/aliases/embedder", { key, json: { model } });
    expect((await alias("admin/embed")).status).toBeLessThan(300);
    const drive = await drives.create(key, { embedding_model: "embedder" });
    await drives.put(drive, "/a.txt", "alpha", key);
    await drives.settled(drive, key);
    const [first] = await drives.chunks(drive);
    await alias("admin/second");
    await drives.put(drive, "/b.txt", "beta", key);
    await waitFor("vectors of the second model", () => asked("m-2").length === 2);
    await drives.settled(drive, key);
    const second = (first?.generation ?? 0) + 1;
    expect((await drives.chunks(drive)).map(({ generation }) => generation)).toEqual([second, second]);
    await change(drive, key, { index: { embedding_model: null } });
    await drives.settled(drive, key);
    expect((await drives.chunks(drive)).map(({ dimensions }) => dimensions)).toEqual([null, null]);
  });

  test("models that cannot be called are refused at once", async () => {
    const key = await gantry.newUser("chooser");
    const refused = async (embedding_model: string) =>
      gantry.call("POST", "/v1/drives", { key, json: { name: "x", index: { embedding_model } } });
    for (const name of ["admin/none", "admin/chat", "unknown-alias"]) {
      const { status, body } = await refused(name);
      expect(status).toBe(400);
      expect(body.error.details[0].loc).toEqual(["body", "index", "embedding_model"]);
    }
    expect((await gantry.call("GET", "/v1/drives", { key })).body.total).toBe(0);
  });
});

describe("an index that cannot pay is paused", () => {
  test("with the key that set it up; another key resumes it", async () => {
    const key = await gantry.newUser("rotator");
    const spare = (await gantry.call("POST", "/api/v2/keys", { key, json: { name: "spare" } })).body;
    const drive = await drives.create(spare.key, { embedding_model: "admin/embed" });
    expect((await gantry.call("DELETE", `/api/v2/keys/${spare.id}`, { key })).status).toBe(204);
    await drives.put(drive, "/a.txt", "alpha", key);
    await drives.settled(drive, key, "paused");
    expect((await drives.read(drive, key)).index.paused_reason).toContain("key that set up the index");
    expect((await drives.files(drive, key)).files).toMatchObject([{ status: "pending", chunks: 0 }]);
    expect((await change(drive, key, { index: { embedding_model: "admin/embed" } })).status).toBe(200);
    await drives.settled(drive, key);
    expect(await drives.chunks(drive)).toHaveLength(1);
  });

  test("without funds, until they return", async () => {
    const key = await gantry.newUser("poor", { credit: -1 });
    const drive = await drives.create(key, { embedding_model: "admin/embed" });
    await drives.put(drive, "/a.txt", "alpha ".repeat(200), key);
    await drives.settled(drive, key, "paused");
    await gantry.call("POST", "/api/v2/admin/users/poor/credits", { json: { amount: 5, reason: "test" } });
    await due(drive);
    await drives.settled(drive, key);
    expect(await drives.chunks(drive)).toHaveLength(1);
  });

  test("while the model is down, without failing files", async () => {
    const key = await gantry.newUser("patient");
    const drive = await drives.create(key, { embedding_model: "admin/second" });
    upstream.odd.call.push(...Array.from({ length: 9 }, () => ({ kind: "reply", reply: jsonReply({}, 503) }) as const));
    await drives.put(drive, "/a.txt", "alpha", key);
    await drives.settled(drive, key, "paused");
    expect((await drives.read(drive, key)).index.paused_reason).toContain("The embedding model failed");
    upstream.odd.call.length = 0;
    await due(drive);
    await drives.settled(drive, key);
  });
});

describe("a backend that is overloaded by some texts", () => {
  let refuses: (text: string) => boolean;
  let picky: Awaited<ReturnType<typeof startScripted>>;
  beforeAll(async () => {
    picky = await startScripted(({ body }) => {
      const { input } = JSON.parse(String(body)) as { input: string[] };
      // An upstream that asks for a long wait is called once for each attempt.
      if (input.some(refuses)) return { status: 503, headers: { "retry-after": "60" }, body: "{}" };
      return jsonReply({ data: input.map((text, index) => ({ index, embedding: vectorOf(text, 4) })) });
    });
    const backend = { type: "openai-embeddings", url: `${picky.url}/v1`, model: "m" };
    const pricing = { per_million_input_tokens: 1000 };
    await createModels(gantry, { picky: { kind: "embedding", visibility: "public", capacity: 20, backend, pricing } });
  });
  afterAll(() => picky.close());

  /** Waits, and makes files and paused indexes due that are not. */
  const reached = (drive: string, key: string, isReached: (index: Record<string, unknown>) => boolean) =>
    waitFor("the index", async () => {
      await gantry.database.sql`
        update drive_index_files set due_at = now()
        where drive_id = ${drive} and status = 'pending' and claimed_by is null and due_at > now()`;
      await gantry.database.sql`
        update drive_indexes set retry_at = now() where drive_id = ${drive} and paused_reason is not null`;
      return isReached((await drives.read(drive, key)).index);
    });

  test("fails the file with such a text after three attempts, and indexes the others", async () => {
    const key = await gantry.newUser("overloading");
    const drive = await drives.create(key, { embedding_model: "admin/picky" });
    refuses = (text) => text.includes("poison");
    await drives.put(drive, "/a-poison.txt", "poison", key);
    await drives.put(drive, "/fine.txt", "fine", key);
    await reached(drive, key, ({ status }) => status === "ready");
    expect((await drives.read(drive, key)).index).toMatchObject({ indexed: 1, failed: 1, paused_reason: null });
    expect((await drives.files(drive, key, "?status=failed")).files).toMatchObject([
      { path: "/a-poison.txt", reason: expect.stringContaining("The embedding model fails for this file") },
    ]);
    // Nothing but the other file and one probe for each attempt is charged.
    const { sql } = gantry.database;
    const paid = await sql`
      select 1 from usage where user_id = (select owner_id from drives where id = ${drive}) and price_micros > 0`;
    expect(paid).toHaveLength(4);
  });

  test("fails no file while it answers nothing", async () => {
    const key = await gantry.newUser("waiting");
    const drive = await drives.create(key, { embedding_model: "admin/picky" });
    refuses = () => false;
    await drives.put(drive, "/first.txt", "first", key);
    await drives.settled(drive, key);
    refuses = () => true;
    picky.seen.length = 0;
    await drives.put(drive, "/second.txt", "second", key);
    const attempts = () => picky.seen.filter(({ body }) => String(body).includes("second")).length;
    await reached(drive, key, ({ status }) => status === "paused" && attempts() > 4);
    expect((await drives.files(drive, key)).files).toMatchObject([{ status: "indexed" }, { status: "pending" }]);
    refuses = () => false;
    await reached(drive, key, ({ status }) => status === "ready");
    expect((await drives.read(drive, key)).index).toMatchObject({ indexed: 2, failed: 0 });
  });
});

test("a file whose text the model refuses fails after three attempts", async () => {
  const key = await gantry.newUser("unlucky");
  const drive = await drives.create(key, { embedding_model: "admin/second" });
  upstream.as.change = (entries) => (String(asked("m-2").at(-1)).includes("poison") ? [] : entries);
  try {
    await drives.put(drive, "/poison.txt", "poison", key);
    for (const attempts of [1, 2]) {
      await waitFor("the attempt fails", async () => {
        const [row] = await gantry.database
          .sql`select attempts, claimed_by from drive_index_files where drive_id = ${drive}`;
        return row?.attempts === attempts && row.claimed_by === null;
      });
      await gantry.database.sql`update drive_index_files set due_at = now() where drive_id = ${drive}`;
    }
    await drives.settled(drive, key);
    const { files } = await drives.files(drive, key);
    expect(files).toMatchObject([{ status: "failed", chunks: 0, reason: expect.any(String) }]);
    await drives.put(drive, "/fine.txt", "fine", key);
    await drives.settled(drive, key);
    expect((await drives.read(drive, key)).index).toMatchObject({ indexed: 1, failed: 1 });
  } finally {
    upstream.as.change = (entries) => entries;
  }
});
