/** One page of a list of the model and account routes. */
export interface Page<T> {
  results: T[];
  page: number;
  page_size: number;
  total_count: number;
  total_pages: number;
}

export interface PageQuery {
  /** From 1. */
  page?: number;
  /** 1 to 100; 20 by default. */
  page_size?: number;
}

/**
 * Everything on all pages. New entries push those that follow onto the next page, where they are met a second time and
 * left out.
 */
export async function* eachOf<T>(
  read: (page: number) => Promise<Page<T>>,
  idOf: (entry: T) => string,
): AsyncGenerator<T> {
  let before = new Set<string>();
  for (let number = 1; ; number++) {
    const { results, total_pages } = await read(number);
    for (const entry of results) if (!before.has(idOf(entry))) yield entry;
    if (number >= total_pages || results.length === 0) return;
    before = new Set(results.map(idOf));
  }
}
