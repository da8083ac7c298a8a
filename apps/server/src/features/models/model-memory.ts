import type { Log } from "../../kernel/log.ts";
import type { Model } from "./model.ts";

interface Remembered {
  model: Model;
  since: number;
}

/** How long an answer of the database is used. Changes are announced at once; this is for a lost announcement. */
const freshMillis = 1000;
/** From here on an answer is renewed in the background, so that a model in use never waits for the database. */
const renewMillis = freshMillis / 2;
/** A manifest is bounded, so this many are too. */
const maxModels = 1000;

/**
 * The models called lately, by endpoint id. Only models are remembered, never that there is none: a name works as soon
 * as it is taken. Requests for one model share one lookup.
 */
export class ModelMemory {
  readonly #find: (endpointId: string) => Promise<Model | undefined>;
  readonly #log: Log;
  readonly #known = new Map<string, Remembered>();
  readonly #underWay = new Map<string, Promise<Model | undefined>>();

  constructor(find: (endpointId: string) => Promise<Model | undefined>, log: Log) {
    this.#find = find;
    this.#log = log;
  }

  async get(endpointId: string): Promise<Model | undefined> {
    const known = this.#known.get(endpointId);
    const age = known ? performance.now() - known.since : Number.POSITIVE_INFINITY;
    if (!known || age >= freshMillis) return this.#lookUp(endpointId);
    if (age >= renewMillis) {
      this.#lookUp(endpointId).catch((error) => this.#log.warn({ err: error }, "renewing a known model failed"));
    }
    return known.model;
  }

  /** Called when a change is committed: whoever asks from now on sees it, also who would have joined a lookup. */
  forget(endpointId: string): void {
    const known = this.#known.get(endpointId);
    // Kept as the measure for the next answer: it is the same object if nothing changed after all.
    if (known) known.since = Number.NEGATIVE_INFINITY;
    this.#underWay.delete(endpointId);
  }

  /** The same for all models of a user that changed; whose a lookup under way is about is not known yet. */
  forgetOwner(userId: string): void {
    for (const known of this.#known.values()) {
      if (known.model.ownerId === userId) known.since = Number.NEGATIVE_INFINITY;
    }
    this.#underWay.clear();
  }

  get size(): number {
    return this.#known.size;
  }

  #lookUp(endpointId: string): Promise<Model | undefined> {
    const shared = this.#underWay.get(endpointId);
    if (shared) return shared;
    const since = performance.now();
    const lookup = this.#find(endpointId).then(
      (model) => {
        // A lookup that was forgotten began before the change: its answer is good for who waits, but is not kept.
        if (this.#underWay.get(endpointId) !== lookup) return model;
        this.#underWay.delete(endpointId);
        return this.#keep(endpointId, model, since);
      },
      (error) => {
        if (this.#underWay.get(endpointId) === lookup) this.#underWay.delete(endpointId);
        throw error;
      },
    );
    this.#underWay.set(endpointId, lookup);
    return lookup;
  }

  #keep(endpointId: string, found: Model | undefined, since: number): Model | undefined {
    const before = this.#known.get(endpointId)?.model;
    // Written again at every renewal, so the first one is the longest out of use.
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
