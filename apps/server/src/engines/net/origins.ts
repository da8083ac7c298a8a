import { Origin, type OriginOptions } from "./http1/origin.ts";

/**
 * The origins that connections are kept to, the least recently used one closed when there are too many: users choose
 * the origins, so their number must not. A closed one still ends what it runs.
 */
export class Origins {
  readonly #options: OriginOptions;
  readonly #maxOrigins: number;
  readonly #byName = new Map<string, Origin>();
  #last = "";
  readonly #closing = new Set<Origin>();

  constructor(maxOrigins: number, options: OriginOptions) {
    this.#maxOrigins = maxOrigins;
    this.#options = options;
  }

  for(name: string): Origin {
    const known = this.#byName.get(name);
    if (known) {
      // A Map keeps the order of insertion: the first one is the one not used for longest.
      if (name !== this.#last) {
        this.#byName.delete(name);
        this.#byName.set(name, known);
        this.#last = name;
      }
      return known;
    }
    const origin = new Origin(name, this.#options);
    this.#byName.set(name, origin);
    this.#last = name;
    for (const [oldest, unused] of this.#byName) {
      if (this.#byName.size <= this.#maxOrigins) break;
      this.#byName.delete(oldest);
      this.#retire(unused);
    }
    return origin;
  }

  #retire(origin: Origin): void {
    for (const closed of this.#closing) if (closed.isEmpty) this.#closing.delete(closed);
    origin.close();
    if (!origin.isEmpty) this.#closing.add(origin);
  }

  destroy(): void {
    for (const origin of [...this.#byName.values(), ...this.#closing]) origin.destroy();
    this.#byName.clear();
    this.#closing.clear();
  }
}
