import type { Caller } from "./caller.ts";

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
