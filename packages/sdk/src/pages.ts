/** A page of a list of the model and account APIs. */
export interface Page<T> {
  results: T[];
  page: number;
  page_size: number;
  total_count: number;
  total_pages: number;
}

export interface PageQuery {
  /** From 1. */
  page?: number | undefined;
  /** 1 to 100; 20 by default. */
  page_size?: number | undefined;
}

/** Both ends are inclusive. Times without a zone are UTC. */
export interface TimeRange {
  from_date?: Date | string | undefined;
  to_date?: Date | string | undefined;
}

/** A range of a list of the agents platform. */
export interface ListRange {
  /** 1 to 100; 20 by default. */
  limit?: number | undefined;
  offset?: number | undefined;
}

type WantedPage = Record<keyof PageQuery, number>;
type WantedRange = Record<keyof ListRange, number>;

const largestPage = 100;

/** Iterates over all pages. */
export function eachOf<T>(
  read: (range: WantedPage) => Promise<Page<T>>,
  idOf: (entry: T) => string,
): AsyncGenerator<T> {
  return eachEntry(async (place) => {
    const { page, page_size } = pageOver(place);
    const { results, total_count } = await read({ page, page_size });
    return { entries: results, begin: (page - 1) * page_size, total: total_count };
  }, idOf);
}

/** For a list of past events, newest first: new entries do not move pages. */
export function eachOfThePast<T extends { created_at: string }>(
  read: (range: WantedPage & Pick<TimeRange, "to_date">) => Promise<Page<T>>,
  idOf: (entry: T) => string,
  until: TimeRange["to_date"],
): AsyncGenerator<T> {
  let to_date = until;
  return eachOf(async (range) => {
    const page = await read({ ...range, ...(to_date && { to_date }) });
    // By the service's clock.
    if (range.page === 1) to_date = page.results[0]?.created_at ?? to_date;
    return page;
  }, idOf);
}

/** A page of a search that reads the newest entries of the range first. */
export interface SearchedPage<T> extends Page<T> {
  /** Set if a search did not read the whole range: continue with it as `to_date`. */
  searched_from: string | null;
}

/** For searches, newest first: continues with older entries until the whole range has been searched. */
export async function* eachSearched<T>(
  read: (range: WantedPage & Pick<TimeRange, "to_date">) => Promise<SearchedPage<T>>,
  idOf: (entry: T) => string,
  until: TimeRange["to_date"],
): AsyncGenerator<T> {
  const met = new Set<string>();
  let to_date = until;
  for (;;) {
    let rest = null as string | null;
    const pass = eachOf(async (range) => {
      const page = await read({ ...range, ...(to_date && { to_date }) });
      rest = page.searched_from;
      return page;
    }, idOf);
    for await (const entry of pass) {
      // Both ends of a range are inclusive, and the status of an entry can change between two passes.
      if (met.has(idOf(entry))) continue;
      met.add(idOf(entry));
      yield entry;
    }
    // More entries of one moment than a search reads.
    if (rest === null || rest === to_date) return;
    to_date = rest;
  }
}

/** For lists with limit and offset. */
export function eachListed<T>(
  read: (range: WantedRange) => Promise<{ entries: T[]; total: number }>,
  idOf: (entry: T) => string,
  limit = largestPage,
): AsyncGenerator<T> {
  return eachEntry(async (offset) => ({ ...(await read({ limit, offset })), begin: offset }), idOf);
}

/** The page that contains this position and reaches farthest behind it. */
export function pageOver(place: number): WantedPage {
  let best = { page: place + 1, page_size: 1 };
  for (let page_size = 2; page_size <= largestPage; page_size++) {
    const page = Math.floor(place / page_size) + 1;
    if (page * page_size >= best.page * best.page_size) best = { page, page_size };
  }
  return best;
}

interface Piece<T> {
  entries: T[];
  /** The position of the first entry in the list. */
  begin: number;
  total: number;
}

/** Portions in a row without new entries, after which the list counts as endless. */
const mostStale = 100;

/**
 * Every entry of a list once, even if entries are added or deleted meanwhile. Each portion overlaps with the last entry of
 * the one before, so nothing in between is missed. Without the overlap the list has moved, and the position is searched:
 * first by the new length of the list, then farther and farther back. Entries added meanwhile may or may not be included.
 *
 *   read ──► overlaps ──► yield what is new ──► read on, until the end
 *    ▲  └──► does not ──┐
 *    └──────────────────┘ another position
 */
async function* eachEntry<T>(
  read: (place: number) => Promise<Piece<T>>,
  idOf: (entry: T) => string,
): AsyncGenerator<T> {
  const met = new Set<string>();
  let place = 0;
  let length = 0;
  let back = 0;
  for (let stale = 0; stale <= mostStale; stale++) {
    const { entries, begin, total } = await read(place);
    const longer = total - length;
    length = total;
    if (begin > 0 && !entries.some((entry) => met.has(idOf(entry)))) {
      if (back === 0 && longer === 0) back = largestPage;
      place = Math.max(0, place + longer - back);
      back = back * 2 || largestPage;
      continue;
    }
    const fresh = entries.filter((entry) => !met.has(idOf(entry)));
    for (const entry of fresh) met.add(idOf(entry));
    yield* fresh;
    const end = begin + entries.length;
    if (end >= total || entries.length === 0) return;
    if (fresh.length > 0) stale = 0;
    place = end - 1;
    back = 0;
  }
}
