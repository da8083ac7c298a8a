import type { Log } from "../../kernel/log.ts";

interface Known<Value> {
  value: Value;
  since: number;
}

export interface RecentValuesOptions<Value> {
  find(key: string): Promise<Value | undefined>;
  /** An unchanged value stays the same object. */
  isSame?(one: Value, other: Value): boolean;
  maxValues: number;
  log: Log;
}

/** Changes are announced at once; this bounds the effect of a lost announcement. */
const freshMillis = 1000;
/** Older entries are refreshed in the background, so that a value in use does not wait for the database. */
const renewMillis = freshMillis / 2;

/** Cache of recently used values. Missing ones are not cached, so a new name works at once. Requests share lookups. */
export class RecentValues<Value> {
  readonly #options: RecentValuesOptions<Value>;
  readonly #known = new Map<string, Known<Value>>();
  readonly #pending = new Map<string, Promise<Value | undefined>>();

  constructor(options: RecentValuesOptions<Value>) {
    this.#options = options;
  }

  async get(key: string): Promise<Value | undefined> {
    const known = this.#known.get(key);
    const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
    if (!known || age >= freshMillis) return this.#lookUp(key);
    if (age >= renewMillis) {
      this.#lookUp(key).catch((error) => this.#options.log.warn({ err: error }, "Failed to refresh a cached value"));
    }
    return known.value;
  }

  /** Call it after a change is committed. Later requests do not join a lookup that began before. */
  forget(key: string): void {
    const known = this.#known.get(key);
    // Keeps the object, which is reused if it did not change.
    if (known) known.since = Number.NEGATIVE_INFINITY;
    this.#pending.delete(key);
  }

  /** Also drops all lookups in flight, because their values are not known yet. */
  forgetWhere(matches: (value: Value, key: string) => boolean): void {
    for (const [key, known] of this.#known) {
      if (matches(known.value, key)) known.since = Number.NEGATIVE_INFINITY;
    }
    this.#pending.clear();
  }

  get size(): number {
    return this.#known.size;
  }

  #lookUp(key: string): Promise<Value | undefined> {
    const shared = this.#pending.get(key);
    if (shared) return shared;
    const since = performance.now();
    const lookup = this.#options.find(key).then(
      (value) => {
        // A lookup from before a change answers its callers but is not cached.
        if (this.#pending.get(key) !== lookup) return value;
        this.#pending.delete(key);
        return this.#keep(key, value, since);
      },
      (error) => {
        if (this.#pending.get(key) === lookup) this.#pending.delete(key);
        throw error;
      },
    );
    this.#pending.set(key, lookup);
    return lookup;
  }

  #keep(key: string, found: Value | undefined, since: number): Value | undefined {
    const before = this.#known.get(key)?.value;
    // Entries in use move to the end, so the first one is the least recently used.
    this.#known.delete(key);
    if (found === undefined) return undefined;
    const value = before !== undefined && this.#options.isSame?.(before, found) ? before : found;
    this.#known.set(key, { value, since });
    if (this.#known.size > this.#options.maxValues) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return value;
  }
}
