import { totalmem } from "node:os";
import { fault } from "../../kernel/errors.ts";
import { createFairQueue } from "../../kernel/fair-queue.ts";
import type { OnThreadTrouble } from "../../kernel/job-threads.ts";
import { bytesOfTable, type Candidate } from "./vector-table.ts";
import { VectorThread } from "./vector-thread.ts";
import type { NearestAnswer, VectorSet, Vectors } from "./vectors.ts";
import type { VectorJob } from "./vectors.worker.ts";

export interface ThreadVectorsOptions {
  /** For the vectors of all sets. Default: an eighth of the memory, at most 1 GiB, divided among the processes. */
  maxBytes?: number;
  processes?: number;
  /** A search does not wait longer than this for a set to be loaded. */
  patienceMs?: number;
  /** Searches of one user that may wait. */
  maxWaiting?: number;
  onTrouble?: OnThreadTrouble | undefined;
}

interface LoadedSet {
  version: number;
  bytes: number;
  /** While it is loaded, or brought up to date. */
  loading: Promise<boolean> | undefined;
}

const gibibyte = 1_073_741_824;
const pageVectors = 256;
/** Rounded vectors choose the candidates; the exact order of the best ones is among these many. */
const fewestCandidates = 100;
const crowded = "Too many searches of the same user wait. Try again in a few seconds.";

/**
 * A thread holds the sets as int8 in memory and scans all of a set. The exact vectors of the best candidates are read
 * again from the source.
 *
 *   absent ──search──► loading ──► loaded ──newer version──► loading (the difference only)
 *      ▲                  │           │
 *      └──── too large ───┘           └── least recently used, another set needs the memory ──► absent
 */
export function createThreadVectors(options: ThreadVectorsOptions = {}): Vectors {
  const { processes = 1, maxBytes = defaultBytes() / processes, patienceMs = 10_000, maxWaiting = 50 } = options;
  /** In order of use, the latest last. */
  const sets = new Map<string, LoadedSet>();
  const thread = new VectorThread((error) => {
    sets.clear();
    if (error) options.onTrouble?.("The thread for vector search failed", error);
  });
  const scans = createFairQueue({ atOnce: 2, ofOne: 2, maxWaiting, crowded });
  const loads = createFairQueue({ atOnce: 2, ofOne: 1, maxWaiting, crowded });
  let isClosed = false;

  const fits = ({ dimensions, size }: Pick<VectorSet, "dimensions" | "size">) =>
    bytesOfTable(dimensions, size) <= maxBytes;

  /** False if the set does not fit the memory. */
  async function load(set: VectorSet, loaded: LoadedSet): Promise<boolean> {
    const pages: string[] = [];
    let count = 0;
    for (let page = await set.ids(0); page !== ""; page = await set.ids(lastId(page))) {
      pages.push(page);
      count += page.length / idDigits;
      if (bytesOfTable(set.dimensions, count) > maxBytes) return false;
    }
    loaded.bytes = bytesOfTable(set.dimensions, count);
    makeSpace(set.key);
    const { key, dimensions } = set;
    const { missing } = await run({ type: "keep", key, dimensions, ids: pages });
    for (let at = 0; at < missing.length; at += pageVectors) {
      const entries = await set.vectors([...missing.subarray(at, at + pageVectors)]);
      if (isClosed) throw shuttingDown();
      // Dropped meanwhile: the next search loads the set again.
      if (sets.get(key) !== loaded) return true;
      await thread.run({ type: "add", key, entries });
    }
    loaded.version = set.version;
    return true;
  }

  function makeSpace(forKey: string): void {
    let used = 0;
    for (const { bytes } of sets.values()) used += bytes;
    for (const [key, { bytes }] of sets) {
      if (used <= maxBytes) return;
      if (key === forKey) continue;
      used -= bytes;
      drop(key);
    }
  }

  function drop(key: string): void {
    sets.delete(key);
    thread.run({ type: "drop", key }).catch(() => {});
  }

  function startLoading(set: VectorSet, loaded: LoadedSet, userId: string): Promise<boolean> {
    const loading = loads(userId, () => load(set, loaded)).then(
      (isLoaded) => {
        loaded.loading = undefined;
        if (!isLoaded && sets.get(set.key) === loaded) drop(set.key);
        return isLoaded;
      },
      (error) => {
        if (sets.get(set.key) === loaded) drop(set.key);
        throw error;
      },
    );
    loaded.loading = loading;
    // Searches that lost their patience do not wait for it.
    loading.catch(() => {});
    return loading;
  }

  async function ready(set: VectorSet, userId: string): Promise<"ready" | "too large" | "loading"> {
    if (!fits(set)) return "too large";
    const until = performance.now() + patienceMs;
    for (;;) {
      const loaded = sets.get(set.key) ?? { version: -1, bytes: 0, loading: undefined };
      sets.delete(set.key);
      sets.set(set.key, loaded);
      if (loaded.version >= set.version) return "ready";
      const loading = loaded.loading ?? startLoading(set, loaded, userId);
      const isLoaded = await within(loading, until - performance.now());
      if (isLoaded === undefined) return "loading";
      if (!isLoaded) return "too large";
    }
  }

  async function run<T extends VectorJob>(job: T) {
    const result = await thread.run(job);
    if (!("missing" in result)) throw new Error(`unexpected answer to ${job.type}`);
    return result;
  }

  async function candidates(key: string, query: Float32Array, limit: number): Promise<Candidate[] | undefined> {
    const result = await thread.run({ type: "candidates", key, query, count: Math.max(fewestCandidates, limit * 2) });
    return "found" in result ? result.found : undefined;
  }

  return {
    fits,
    async nearest(set, query, { userId, limit, signal }): Promise<NearestAnswer> {
      if (isClosed) throw shuttingDown();
      const state = await ready(set, userId);
      signal?.throwIfAborted();
      if (state !== "ready") return state;
      const rough = await scans(userId, () => candidates(set.key, query, limit), signal);
      // Dropped for another set meanwhile.
      if (!rough) return "loading";
      if (rough.length === 0) return [];
      const entries = await set.vectors(rough.map(({ id }) => id));
      const result = await thread.run({ type: "score", query, entries });
      return "found" in result ? result.found.slice(0, limit) : [];
    },
    async close() {
      isClosed = true;
      await thread.close();
    },
  };
}

const idDigits = 16;
const lastId = (page: string): number => Number.parseInt(page.slice(-idDigits), 16);

/** Undefined if the time is over first. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, Math.max(0, ms), undefined);
  return Promise.race([work, promise]).finally(() => clearTimeout(timer));
}

function defaultBytes(): number {
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.min(gibibyte, memory / 8);
}

function shuttingDown(): Error {
  return fault("service_unavailable", "The server is shutting down");
}
