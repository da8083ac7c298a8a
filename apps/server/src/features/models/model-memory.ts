import type { Log } from "../../kernel/log.ts";
import type { Model } from "./model.ts";

interface Remembered {
  model: Model;
  since: number;
}

/** Changes are announced at once; this bounds the effect of a lost announcement. */
const freshMillis = 1000;
/** Older entries are refreshed in the background, so that a model in use does not wait for the database. */
const renewMillis = freshMillis / 2;
const maxModels = 1000;

/** Cache of recent models by endpoint id. Missing models are not cached, so a new name works at once. Requests share lookups. */
export class ModelMemory {
  readonly #find: (endpointId: string) => Promise<Model | undefined>;
  readonly #log: Log;
  readonly #known = new Map<string, Remembered>();
  readonly #pending = new Map<string, Promise<Model | undefined>>();

  constructor(find: (endpointId: string) => Promise<Model | undefined>, log: Log) {
    this.#find = find;
    this.#log = log;
  }

  async get(endpointId: string): Promise<Model | undefined> {
    const known = this.#known.get(endpointId);
    const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
    if (!known || age >= freshMillis) return this.#lookUp(endpointId);
    if (age >= renewMillis) {
      this.#lookUp(endpointId).catch((error) => this.#log.warn({ err: error }, "Failed to refresh a cached model"));
    }
    return known.model;
  }

  /** Call it after a change is committed. Later requests do not join a lookup that began before. */
  forget(endpointId: string): void {
    const known = this.#known.get(endpointId);
    // Keeps the object, which is reused if the version did not change.
    if (known) known.since = Number.NEGATIVE_INFINITY;
    this.#pending.delete(endpointId);
  }

  /** Also drops all lookups in flight, because their owner is not known yet. */
  forgetOwner(userId: string): void {
    for (const known of this.#known.values()) {
      if (known.model.ownerId === userId) known.since = Number.NEGATIVE_INFINITY;
    }
    this.#pending.clear();
  }

  get size(): number {
    return this.#known.size;
  }

  #lookUp(endpointId: string): Promise<Model | undefined> {
    const shared = this.#pending.get(endpointId);
    if (shared) return shared;
    const since = performance.now();
    const lookup = this.#find(endpointId).then(
      (model) => {
        // A lookup from before a change answers its callers but is not cached.
        if (this.#pending.get(endpointId) !== lookup) return model;
        this.#pending.delete(endpointId);
        return this.#keep(endpointId, model, since);
      },
      (error) => {
        if (this.#pending.get(endpointId) === lookup) this.#pending.delete(endpointId);
        throw error;
      },
    );
    this.#pending.set(endpointId, lookup);
    return lookup;
  }

  #keep(endpointId: string, found: Model | undefined, since: number): Model | undefined {
    const before = this.#known.get(endpointId)?.model;
    // Entries in use move to the end, so the first one is the least recently used.
    this.#known.delete(endpointId);
    if (!found) return undefined;
    const model = before && isSame(before, found) ? before : found;
    this.#known.set(endpointId, { model, since });
    if (this.#known.size > maxModels) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return model;
  }
}

function isSame(one: Model, other: Model): boolean {
  return one.id === other.id && one.version === other.version && one.isOwnerDisabled === other.isOwnerDisabled;
}
