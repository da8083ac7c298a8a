/** First in, first out, without moving what waits each time one leaves. */
export class Line<T> {
  #items: T[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.#first === this.#items.length) return undefined;
    const item = this.#items[this.#first++];
    if (this.#first === this.#items.length || this.#first > 1024) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }

  /** Takes out, and returns, those for which `leaves` is true. */
  extract(leaves: (item: T) => boolean): T[] {
    const [out, stay]: [T[], T[]] = [[], []];
    for (const item of this.#items.slice(this.#first)) (leaves(item) ? out : stay).push(item);
    this.#items = stay;
    this.#first = 0;
    return out;
  }
}
