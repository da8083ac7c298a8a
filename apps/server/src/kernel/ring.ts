/** Where something stands in a ring. */
export interface Place {
  /** It is there no longer. Again is no error. */
  leave(): void;
}

/**
 * Things in the order in which they came, for what comes and goes with every request. A Set is not fit for that: whenever
 * its table is full it takes another and leaves the old one behind, with all that was in it and a pointer to the new one.
 * Once one of those tables is old, all later ones, and whatever was in them, outlive every small collection of garbage
 * (docs/decisions/0014).
 */
export class Ring<T> {
  readonly #end = new Link<T>(undefined, () => {});
  readonly #onLeave = () => {
    this.#size--;
  };
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The one that has been there longest. */
  get first(): T | undefined {
    return this.#end.after.item;
  }

  add(item: T): Place {
    const link = new Link(item, this.#onLeave);
    link.before = this.#end.before;
    link.after = this.#end;
    this.#end.before.after = link;
    this.#end.before = link;
    this.#size++;
    return link;
  }

  /** Takes the first one out. */
  shift(): T | undefined {
    const { first } = this;
    this.#end.after.leave();
    return first;
  }

  /** All that are there now, whoever leaves meanwhile. */
  all(): T[] {
    const items: T[] = [];
    for (let link = this.#end.after; link !== this.#end; link = link.after) items.push(link.item as T);
    return items;
  }
}

class Link<T> implements Place {
  item: T | undefined;
  before: Link<T> = this;
  after: Link<T> = this;
  readonly #onLeave: () => void;

  constructor(item: T | undefined, onLeave: () => void) {
    this.item = item;
    this.#onLeave = onLeave;
  }

  leave(): void {
    if (this.after === this) return;
    this.before.after = this.after;
    this.after.before = this.before;
    // Whoever still holds this place must hold nothing else by it.
    this.before = this;
    this.after = this;
    this.item = undefined;
    this.#onLeave();
  }
}
