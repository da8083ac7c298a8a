/**
 * Things by their id, for what comes and goes with every request: a Map whose tables, which live on when they are no
 * longer used (`ring.ts` says how), hold nothing but emptied cells.
 */
export class Register<T> {
  readonly #cells = new Map<string, { item: T | undefined }>();

  get size(): number {
    return this.#cells.size;
  }

  get(id: string): T | undefined {
    return this.#cells.get(id)?.item;
  }

  set(id: string, item: T): void {
    const cell = this.#cells.get(id);
    if (cell) cell.item = item;
    else this.#cells.set(id, { item });
  }

  delete(id: string): void {
    const cell = this.#cells.get(id);
    if (!cell) return;
    this.#cells.delete(id);
    cell.item = undefined;
  }

  ids(): string[] {
    return [...this.#cells.keys()];
  }

  /** All that are there now, whoever leaves meanwhile. */
  all(): T[] {
    return Array.from(this.#cells.values(), (cell) => cell.item as T);
  }
}
