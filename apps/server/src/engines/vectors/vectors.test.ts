import { afterAll, expect, test } from "vitest";
import { createThreadVectors } from "./thread-vectors.ts";
import type { VectorSet } from "./vectors.ts";

const dimensions = 50;

/** A pseudorandom sequence that is the same in each run. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

function unitVector(next: () => number): Float32Array {
  const values = Float32Array.from({ length: dimensions }, next);
  const length = Math.hypot(...values);
  return values.map((value) => value / length);
}

class TestSet implements VectorSet {
  readonly dimensions = dimensions;
  readonly key: string;
  readonly rows = new Map<number, Float32Array>();
  version = 0;
  read = 0;
  gate: Promise<void> = Promise.resolve();

  constructor(key: string, count: number, seed = 1) {
    this.key = key;
    const next = numbersFrom(seed);
    for (let id = 1; id <= count; id++) this.rows.set(id, unitVector(next));
  }

  get size(): number {
    return this.rows.size;
  }

  async ids(after: number): Promise<string> {
    const page = [...this.rows.keys()].filter((id) => id > after).sort((a, b) => a - b);
    return page
      .slice(0, 700)
      .map((id) => id.toString(16).padStart(16, "0"))
      .join("");
  }

  async vectors(ids: readonly number[]): Promise<string> {
    await this.gate;
    this.read += ids.length;
    return ids
      .flatMap((id) => {
        const vector = this.rows.get(id);
        const digits = vector && Buffer.from(vector.buffer).toString("hex");
        return digits ? [id.toString(16).padStart(16, "0") + digits] : [];
      })
      .join("");
  }

  nearest(query: Float32Array, limit: number): number[] {
    const dot = (vector: Float32Array) => vector.reduce((sum, value, at) => sum + value * (query[at] ?? 0), 0);
    const scored = [...this.rows].map(([id, vector]) => ({ id, score: dot(vector) }));
    return scored
      .sort((a, b) => b.score - a.score)
      .slice(0, limit)
      .map(({ id }) => id);
  }
}

const opened: ReturnType<typeof createThreadVectors>[] = [];
function open(options?: Parameters<typeof createThreadVectors>[0]) {
  const vectors = createThreadVectors(options);
  opened.push(vectors);
  return vectors;
}
afterAll(async () => {
  await Promise.all(opened.map((vectors) => vectors.close()));
});

const found = (answer: unknown) => (answer as { id: number }[]).map(({ id }) => id);
const asked = { userId: "u", limit: 10 };

test("Finds the exact nearest neighbors", async () => {
  const vectors = open();
  const set = new TestSet("a", 5000);
  const next = numbersFrom(99);
  for (let n = 0; n < 20; n++) {
    const query = unitVector(next);
    expect(found(await vectors.nearest(set, query, asked))).toEqual(set.nearest(query, 10));
  }
});

test("Loads only the difference of a newer version, and drops deleted vectors", async () => {
  const vectors = open();
  const set = new TestSet("a", 1000);
  const query = unitVector(numbersFrom(5));
  await vectors.nearest(set, query, asked);
  const [best, second] = set.nearest(query, 2) as [number, number];
  set.rows.delete(best);
  set.rows.set(5000, query);
  set.version++;
  set.read = 0;
  expect(found(await vectors.nearest(set, query, asked)).slice(0, 2)).toEqual([5000, second]);
  // One new vector, and the candidates whose scores are computed exactly.
  expect(set.read).toBe(101);
});

test("Keeps the sets within the memory, and refuses a set that can never fit", async () => {
  // A vector of 50 values takes 76 bytes, of which 64 are in whole pages.
  const vectors = open({ maxBytes: 2 * 65_536 + 12 * 1500 });
  const [one, other] = [new TestSet("one", 1000), new TestSet("other", 1000, 2)];
  const query = unitVector(numbersFrom(5));
  for (const set of [one, other, one]) {
    set.read = 0;
    expect(found(await vectors.nearest(set, query, asked))).toEqual(set.nearest(query, 10));
    expect(set.read).toBe(1100);
  }
  const small = Array.from({ length: 3 }, (_, n) => new TestSet(`small ${n}`, 1));
  for (const set of small) await vectors.nearest(set, query, asked);
  const [first] = small as [TestSet];
  first.read = 0;
  await vectors.nearest(first, query, asked);
  // Loaded again: each of the small sets takes a page.
  expect(first.read).toBe(2);
  expect(await vectors.nearest(new TestSet("large", 1501), query, asked)).toBe("too large");
});

test("Loads a set again that has become much smaller, because its memory does not shrink", async () => {
  const vectors = open();
  const set = new TestSet("shrunk", 10_000);
  const query = unitVector(numbersFrom(5));
  await vectors.nearest(set, query, asked);
  for (const id of [...set.rows.keys()]) if (id > 1000) set.rows.delete(id);
  set.version++;
  set.read = 0;
  expect(found(await vectors.nearest(set, query, asked))).toEqual(set.nearest(query, 10));
  expect(set.read).toBe(1100);
});

test("Does not wait longer than its patience for a set", async () => {
  const vectors = open({ patienceMs: 20 });
  const set = new TestSet("slow", 300);
  const query = unitVector(numbersFrom(5));
  const gate = Promise.withResolvers<void>();
  set.gate = gate.promise;
  expect(await vectors.nearest(set, query, asked)).toBe("loading");
  gate.resolve();
  await expect
    .poll(async () => vectors.nearest(set, query, asked), { timeout: 10_000 })
    .toMatchObject([{ id: set.nearest(query, 1)[0] }, ...new Array(9).fill({})]);
});

test("Reads the set again after a failed load", async () => {
  const vectors = open();
  const set = new TestSet("broken", 300);
  const query = unitVector(numbersFrom(5));
  set.gate = Promise.reject(new Error("no database"));
  set.gate.catch(() => {});
  await expect(vectors.nearest(set, query, asked)).rejects.toThrow("no database");
  set.gate = Promise.resolve();
  expect(found(await vectors.nearest(set, query, asked))).toEqual(set.nearest(query, 10));
});

test("Refuses the searches of a user who has too many waiting", async () => {
  const vectors = open({ maxWaiting: 3 });
  const set = new TestSet("a", 2000);
  const query = unitVector(numbersFrom(5));
  await vectors.nearest(set, query, asked);
  const ends = await Promise.allSettled(Array.from({ length: 20 }, () => vectors.nearest(set, query, asked)));
  const refused = ends.filter(({ status }) => status === "rejected");
  expect(refused.length).toBe(15);
  expect(refused[0]).toMatchObject({ reason: { type: "service_unavailable" } });
  expect(found(await vectors.nearest(set, query, { ...asked, userId: "other" }))).toHaveLength(10);
});
