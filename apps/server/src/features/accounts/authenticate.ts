import type { Clock } from "../../kernel/clock.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Caller } from "./context.ts";
import { digestOf, hashOf, longestKey, publicPartsOf, sameHash } from "./key-format.rules.ts";
import type { StoredPair } from "./store.ts";

/** A caller, and the moment (milliseconds) from which its key no longer works; null is a key that is none. */
export type Verdict = { readonly caller: Caller; readonly endsAt: number } | null;

interface Remembered<V> {
  verdict: V;
  since: number;
}

/**
 * What is known about keys presented lately, by the digest of the key. Keys that work and keys that do not are kept
 * apart and both are bounded, so that a flood of invented keys costs a fixed amount of memory and pushes no real key out.
 */
export class CallerMemory {
  readonly #known = new Map<string, Remembered<NonNullable<Verdict>>>();
  readonly #unknown = new Map<string, Remembered<null>>();
  readonly #bounds: { known: number; unknown: number };

  constructor(bounds: { known: number; unknown: number }) {
    this.#bounds = bounds;
  }

  get(digest: string): Remembered<Verdict> | undefined {
    return this.#known.get(digest) ?? this.#unknown.get(digest);
  }

  set(digest: string, verdict: Verdict, since: number): void {
    this.#known.delete(digest);
    this.#unknown.delete(digest);
    // A key in use is written again every second and so moves to the end: the first one is the longest out of use.
    if (verdict) put(this.#known, digest, { verdict, since }, this.#bounds.known);
    else put(this.#unknown, digest, { verdict, since }, this.#bounds.unknown);
  }

  forgetUser(userId: string): void {
    this.#unknown.clear();
    for (const [digest, { verdict }] of this.#known) if (verdict.caller.userId === userId) this.#known.delete(digest);
  }

  clear(): void {
    this.#known.clear();
    this.#unknown.clear();
  }

  get size(): number {
    return this.#known.size + this.#unknown.size;
  }
}

function put<V>(map: Map<string, V>, digest: string, value: V, bound: number): void {
  map.set(digest, value);
  if (map.size <= bound) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}

/** How long an answer of the database is used. Changes are announced at once; this is for a lost announcement. */
const freshMillis = 1000;
/** From here on an answer is renewed in the background, so that a key in use never waits for the database. */
const renewMillis = freshMillis / 2;
const bounds = { known: 10_000, unknown: 1_000 };

export interface Authentication {
  /** The caller whose key this is, or the fault `unauthorized`. */
  authenticate(presented: string): Promise<Caller>;
  /** Called after a change to a user or its keys is committed: from here on every request of that user is looked up. */
  forgetUser(userId: string): void;
  /** Called when announcements may have been missed. */
  forgetAll(): void;
  remembered(): number;
}

/**
 * The path of every request: one SHA-256 and one look into memory, a query only for keys not seen within the last
 * second. Requests with the same key share one lookup. What runs out by time (expiry, the grace of a rotated key) is
 * compared with the clock on every request.
 */
export function createAuthentication({
  findPairs,
  noteUse,
  clock,
  log,
}: {
  /** All pairs in force under the given public parts. */
  findPairs(publicParts: readonly string[]): Promise<readonly StoredPair[]>;
  noteUse(pair: StoredPair): void;
  clock: Clock;
  log: Log;
}): Authentication {
  const memory = new CallerMemory(bounds);
  const underWay = new Map<string, Promise<Verdict>>();
  let changes = 0;

  async function lookUp(digest: string, presented: string): Promise<Verdict> {
    const shared = underWay.get(digest);
    if (shared) return shared;
    const publicParts = publicPartsOf(presented, digest);
    if (publicParts.length === 0) return null;
    const lookup = ask(digest, publicParts).finally(() => {
      if (underWay.get(digest) === lookup) underWay.delete(digest);
    });
    underWay.set(digest, lookup);
    return lookup;
  }

  async function ask(digest: string, publicParts: readonly string[]): Promise<Verdict> {
    const changesBefore = changes;
    const since = performance.now();
    const pairs = await findPairs(publicParts);
    const hash = hashOf(digest);
    const pair = pairs.find((candidate) => sameHash(candidate.secretHash, hash));
    const verdict = pair ? verdictOf(pair) : null;
    // An answer that was under way during a change may be older than the change.
    if (changes === changesBefore) memory.set(digest, verdict, since);
    if (pair && works(verdict)) noteUse(pair);
    return verdict;
  }

  /** Whoever comes from now on must not join a lookup that began before the change, nor find its answer. */
  function disownLookups(): void {
    changes += 1;
    underWay.clear();
  }

  function works(verdict: Verdict): verdict is NonNullable<Verdict> {
    return verdict !== null && clock.now().getTime() < verdict.endsAt;
  }

  return {
    async authenticate(presented) {
      if (presented.length > longestKey) throw invalidKey();
      const digest = digestOf(presented);
      const known = memory.get(digest);
      const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
      if (known?.verdict && age >= renewMillis && age < freshMillis) {
        lookUp(digest, presented).catch((error) => log.warn({ err: error }, "renewing a known key failed"));
      }
      const verdict = known && age < freshMillis ? known.verdict : await lookUp(digest, presented);
      if (!works(verdict)) throw invalidKey();
      return verdict.caller;
    },
    forgetUser(userId) {
      disownLookups();
      memory.forgetUser(userId);
    },
    forgetAll() {
      disownLookups();
      memory.clear();
    },
    remembered: () => memory.size,
  };
}

function verdictOf(pair: StoredPair): Verdict {
  const ends = [pair.expiresAt, pair.validUntil, pair.sessionEndsAt].map(
    (end) => end?.getTime() ?? Number.POSITIVE_INFINITY,
  );
  return {
    endsAt: Math.min(...ends),
    caller: Object.freeze({
      userId: pair.userId,
      username: pair.username,
      role: pair.role,
      plan: pair.plan,
      keyId: pair.keyId,
      keyPublic: pair.public,
      keyName: pair.keyName,
      graceEndsAt: pair.inGrace ? pair.validUntil : null,
      models: pair.models && Object.freeze([...pair.models]),
      expiresAt: pair.expiresAt,
      monthlyLimitMicros: pair.monthlyLimitMicros,
      sessionEndsAt: pair.sessionEndsAt,
    }),
  };
}

/** One sentence for all: whoever guesses learns nothing about which part of the guess was right. */
export function invalidKey(): Fault {
  return fault("unauthorized", "Invalid API key", { headers: { "www-authenticate": "Bearer" } });
}
