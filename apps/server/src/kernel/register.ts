/** A Map for items that come and go with every request. Its abandoned tables (see `ring.ts`) contain only empty cells. */
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

  /** A copy: items may leave while the caller iterates. */
  all(): T[] {
    return Array.from(this.#cells.values(), (cell) => cell.item as T);
  }
}
