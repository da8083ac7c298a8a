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

/** Where in a list of the agents platform. */
export interface ListRange {
  /** 1 to 100; 20 by default. */
  limit?: number;
  offset?: number;
}

/** The longest page that either kind of list gives. */
export const largestPage = 100;

/** Pages in a row with nothing new on them: more entries than that do not arrive while a page is read. */
const mostStale = 100;

/**
 * Everything on all pages. New entries push those that follow onto the next page, where they are met a second time and
 * left out.
 */
export async function* eachOf<T>(
  read: (page: number) => Promise<Page<T>>,
  idOf: (entry: T) => string,
): AsyncGenerator<T> {
  let before = new Set<string>();
  let stale = 0;
  for (let number = 1; ; number++) {
    const { results, total_pages } = await read(number);
    const fresh = results.filter((entry) => !before.has(idOf(entry)));
    yield* fresh;
    stale = fresh.length > 0 ? 0 : stale + 1;
    if (number >= total_pages || results.length === 0 || stale > mostStale) return;
    before = new Set(results.map(idOf));
  }
}

/** The same for a list that is asked for by limit and offset. */
export function eachListed<T>(
  read: (range: Required<ListRange>) => Promise<{ entries: T[]; total: number }>,
  idOf: (entry: T) => string,
  limit = largestPage,
): AsyncGenerator<T> {
  return eachOf(async (page) => {
    const { entries, total } = await read({ limit, offset: (page - 1) * limit });
    return { results: entries, page, page_size: limit, total_count: total, total_pages: Math.ceil(total / limit) };
  }, idOf);
}
