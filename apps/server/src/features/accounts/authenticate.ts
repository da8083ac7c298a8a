import type { Sql } from "../../engines/database/database.ts";
import type { Clock } from "../../kernel/clock.ts";
import { type Fault, fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Caller, Resource } from "./context.ts";
import { digestOf, hashOf, longestKey, publicPartsOf, sameHash } from "./key-format.rules.ts";
import { type StoredPair, selectPairs } from "./pair-store.ts";
import { lockUser } from "./store.ts";

/** A caller and the time (milliseconds) when its key stops working; null for an unknown key. */
export type Verdict = {
  readonly caller: Caller;
  readonly endsAt: number;
  /** The only resource where the key works; null: everywhere. */
  readonly resource: Resource | null;
} | null;

interface Remembered<V> {
  verdict: V;
  since: number;
}

/**
 * Cache of recent keys, by digest. Known and unknown keys are stored separately and both are bounded, so that a flood of
 * invented keys neither grows the memory nor evicts a real key.
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
    // A key in use is written every second and moves to the end, so the first entry is the least recently used.
    if (verdict) put(this.#known, digest, { verdict, since }, this.#bounds.known);
    else put(this.#unknown, digest, { verdict, since }, this.#bounds.unknown);
  }

  forgetUser(userId: string): void {
    this.#unknown.clear();
    for (const [digest, { verdict }] of this.#known) {
      const { caller } = verdict;
      if (caller.userId === userId || caller.team?.member.userId === userId) this.#known.delete(digest);
    }
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

/** Changes are announced at once; this bounds the effect of a lost announcement. */
const freshMillis = 1000;
/** Older entries are refreshed in the background, so that a key in use does not wait for the database. */
const renewMillis = freshMillis / 2;
const bounds = { known: 10_000, unknown: 1_000 };

export interface Authentication {
  /** Throws `unauthorized` for an invalid key, and for a token of another resource than the requested one. */
  authenticate(presented: string, resource?: Resource): Promise<Caller>;
  /** Call after a change to a user or its keys is committed. */
  forgetUser(userId: string): void;
  /** Call when announcements may have been missed. */
  forgetAll(): void;
  remembered(): number;
}

/**
 * Hot path: one SHA-256 and one cache lookup per request. Only keys not seen in the last second are queried, and requests
 * with the same key share that query. Expiry and grace periods are compared with the clock on every request.
 */
export function createAuthentication({
  findPairs,
  noteUse,
  clock,
  log,
}: {
  findPairs(publicParts: readonly string[]): Promise<readonly StoredPair[]>;
  noteUse(pair: StoredPair): void;
  clock: Clock;
  log: Log;
}): Authentication {
  const memory = new CallerMemory(bounds);
  const pending = new Map<string, Promise<Verdict>>();
  let changes = 0;

  async function lookUp(digest: string, presented: string): Promise<Verdict> {
    const shared = pending.get(digest);
    if (shared) return shared;
    const publicParts = publicPartsOf(presented, digest);
    if (publicParts.length === 0) return null;
    const lookup = ask(digest, publicParts).finally(() => {
      if (pending.get(digest) === lookup) pending.delete(digest);
    });
    pending.set(digest, lookup);
    return lookup;
  }

  async function ask(digest: string, publicParts: readonly string[]): Promise<Verdict> {
    const changesBefore = changes;
    const since = performance.now();
    const pairs = await findPairs(publicParts);
    const hash = hashOf(digest);
    const pair = pairs.find((candidate) => sameHash(candidate.secretHash, hash));
    const verdict = pair ? verdictOf(pair) : null;
    // The answer may be older than a change that happened meanwhile.
    if (changes === changesBefore) memory.set(digest, verdict, since);
    if (pair && works(verdict)) noteUse(pair);
    return verdict;
  }

  /** Later requests must not join a lookup that began before the change, or use its answer. */
  function dropLookups(): void {
    changes += 1;
    pending.clear();
  }

  function works(verdict: Verdict): verdict is NonNullable<Verdict> {
    return verdict !== null && clock.now().getTime() < verdict.endsAt;
  }

  return {
    async authenticate(presented, resource) {
      if (presented.length > longestKey) throw invalidKey();
      const digest = digestOf(presented);
      const known = memory.get(digest);
      const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
      if (known?.verdict && age >= renewMillis && age < freshMillis) {
        lookUp(digest, presented).catch((error) => log.warn({ err: error }, "Failed to refresh a cached key"));
      }
      const verdict = known && age < freshMillis ? known.verdict : await lookUp(digest, presented);
      if (!works(verdict)) throw invalidKey();
      if (verdict.resource !== null && verdict.resource !== resource) throw elsewhere();
      return verdict.caller;
    },
    forgetUser(userId) {
      dropLookups();
      memory.forgetUser(userId);
    },
    forgetAll() {
      dropLookups();
      memory.clear();
    },
    remembered: () => memory.size,
  };
}

function verdictOf(pair: StoredPair): NonNullable<Verdict> {
  const ends = [pair.expiresAt, pair.validUntil, pair.sessionEndsAt].map(
    (end) => end?.getTime() ?? Number.POSITIVE_INFINITY,
  );
  return {
    endsAt: Math.min(...ends),
    resource: pair.resource,
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
      dailyLimitMicros: pair.dailyLimitMicros ?? null,
      tokensPerMinute: pair.tokensPerMinute ?? null,
      boundTokensPerMinute: pair.boundTokensPerMinute ?? null,
      parentId: pair.parentId ?? null,
      keepsInputs: pair.keepsInputs,
      sessionEndsAt: pair.sessionEndsAt,
      team: pair.team && Object.freeze(pair.team),
    }),
  };
}

/**
 * Call it first in a transaction that creates a credential: since the caller was identified, its own may have been revoked
 * or replaced. Such changes wait for the transaction.
 */
export async function lockCaller(tx: Sql, { userId, team, keyPublic }: Caller, now: Date): Promise<void> {
  await lockUser(tx, userId, team?.member.userId);
  const pairs = await selectPairs(tx, [keyPublic]);
  if (!pairs.some((pair) => !pair.inGrace && verdictOf(pair).endsAt > now.getTime())) throw invalidKey();
}

/** The same text for all causes, so that guessing reveals nothing. */
export function invalidKey(): Fault {
  return fault("unauthorized", "Invalid API key", { headers: { "www-authenticate": "Bearer" } });
}

function elsewhere(): Fault {
  return fault("unauthorized", "Access tokens of connected apps work at /mcp only. Use an API key here.", {
    headers: { "www-authenticate": 'Bearer error="invalid_token"' },
  });
}
