export interface RingEntry {
  /** Removes the item. A second call does nothing. */
  leave(): void;
}

/**
 * A FIFO for items that come and go with every request. A Set would leave its full tables behind, each pointing to the
 * next: once one is in the old generation, all later ones survive every minor collection (docs/decisions/0014).
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

  /** The oldest item. */
  get first(): T | undefined {
    return this.#end.after.item;
  }

  add(item: T): RingEntry {
    const link = new Link(item, this.#onLeave);
    link.before = this.#end.before;
    link.after = this.#end;
    this.#end.before.after = link;
    this.#end.before = link;
    this.#size++;
    return link;
  }

  shift(): T | undefined {
    const { first } = this;
    this.#end.after.leave();
    return first;
  }

  /** A copy: items may leave while the caller iterates. */
  all(): T[] {
    const items: T[] = [];
    for (let link = this.#end.after; link !== this.#end; link = link.after) items.push(link.item as T);
    return items;
  }
}

class Link<T> implements RingEntry {
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
    // A caller that keeps this entry must not keep its neighbours alive.
    this.before = this;
    this.after = this;
    this.item = undefined;
    this.#onLeave();
  }
}
