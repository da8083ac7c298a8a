import { Origin, type OriginOptions } from "./http1/origin.ts";

/** Users choose the origins, so their number is bounded: the least recently used one is closed. It finishes its exchanges. */
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
      // Moves to the end: the first entry of the map is the least recently used.
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
