import { newId, type SearchMode } from "@gantry/wire";
import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../../test/support/database.ts";
import { knowledgeSet } from "../../../../test/support/knowledge-set.ts";
import { meaningDimensions, meaningVector } from "../../../../test/support/meaning-embeddings.ts";
import { createThreadVectors } from "../../../engines/vectors/thread-vectors.ts";
import type { Caller } from "../../accounts/index.ts";
import { insertIndex } from "./chunks.fixture.ts";
import { createDriveSearch, type DriveSearch } from "./search-drive.ts";

const { documents, questions } = knowledgeSet();
const [ownerId, driveId] = ["usr_reader", newId("drive")];
const vectors = createThreadVectors();
let search: DriveSearch["search"];
let drop: () => Promise<void>;

beforeAll(async () => {
  const own = await testDatabase();
  const { database } = own;
  drop = own.drop;
  const { sql } = database;
  await sql`insert into users (id, username, role, plan, created_at) values (${ownerId}, 'reader', 'user', 'free', now())`;
  await sql`insert into drives (id, owner_id, name, created_at) values (${driveId}, ${ownerId}, 'reports', now())`;
  const chunks = documents.map(({ path, text }) => ({ path, text, vector: meaningVector(text) }));
  await insertIndex(database, { driveId, ownerId, dimensions: meaningDimensions }, chunks);
  const embedQuery = async (_driveId: string, text: string) => meaningVector(text);
  ({ search } = createDriveSearch({ database, vectors, embedQuery, mostQueryCost: async () => 0 }));
});
afterAll(async () => {
  await vectors.close();
  await drop();
});

const caller = { userId: ownerId } as Caller;

/** Few enough at once for the queue of one user. */
const atOnce = 20;

async function recall(mode: SearchMode): Promise<Map<string, number>> {
  const hits = new Map<string, boolean[]>([["all", []]]);
  for (let from = 0; from < questions.length; from += atOnce) {
    const asked = questions.slice(from, from + atOnce).map(async ({ kind, text, answer }) => {
      const { results, mode: done } = await search({ ownerId, driveId, caller, text, limit: 10, mode });
      expect(done).toBe(mode);
      const isFound = results.some(({ path }) => path === answer);
      for (const group of [kind, "all"]) hits.set(group, [...(hits.get(group) ?? []), isFound]);
    });
    await Promise.all(asked);
  }
  const shares = [...hits].map(([kind, all]) => [kind, all.filter(Boolean).length / all.length] as const);
  return new Map(shares);
}

test("The hybrid search finds at least what words or vectors alone find", async () => {
  expect(documents.length).toBe(400);
  expect(questions.length).toBe(100);
  const [text, vector, hybrid] = [await recall("text"), await recall("vector"), await recall("hybrid")];
  const all = { text: text.get("all") ?? 1, vector: vector.get("all") ?? 1, hybrid: hybrid.get("all") ?? 0 };
  // The set is hard for each of the two: names and numbers for vectors, paraphrases for words.
  expect(text.get("paraphrase")).toBeLessThan(0.3);
  expect(vector.get("number")).toBeLessThan(0.3);
  expect(all.hybrid).toBeGreaterThanOrEqual(Math.max(all.text, all.vector));
  expect(all).toEqual({ text: 0.75, vector: expect.closeTo(0.57, 1), hybrid: 1 });
});
