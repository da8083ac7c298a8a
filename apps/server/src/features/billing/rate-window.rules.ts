/**
 * The requests of the last minute as pairs (milliseconds, how many), oldest first, flattened as they are stored. Up to
 * a thousand requests a minute every request has its own moment; above, moments are merged so that a row stays small.
 */
export type Hits = readonly number[];

export const windowMs = 60_000;
const finestEntries = 1_000;

function resolutionOf(limit: number): number {
  return Math.max(1, Math.ceil((windowMs * 1) / finestEntries) * (limit > finestEntries ? 1 : 0));
}

export function withoutOld(hits: Hits, now: number): number[] {
  let from = 0;
  while (from < hits.length && (hits[from] as number) <= now - windowMs) from += 2;
  return hits.slice(from);
}

export function countHits(hits: Hits): number {
  let sum = 0;
  for (let i = 1; i < hits.length; i += 2) sum += hits[i] as number;
  return sum;
}

/** Counts one more request. `hits` must be free of old ones. Changes and returns the given array. */
export function addHit(hits: number[], now: number, limit: number): number[] {
  const moment = Math.floor(now / resolutionOf(limit)) * resolutionOf(limit);
  // Two nodes' clocks may differ a little: moments never go backwards.
  const last = hits.length >= 2 ? (hits[hits.length - 2] as number) : undefined;
  if (last !== undefined && last >= moment) hits[hits.length - 1] = (hits[hits.length - 1] as number) + 1;
  else hits.push(moment, 1);
  return hits;
}

/** Milliseconds until one more request fits. */
export function untilFree(hits: Hits, now: number, limit: number): number {
  let over = countHits(hits) - limit + 1;
  for (let i = 0; i < hits.length && over > 0; i += 2) {
    over -= hits[i + 1] as number;
    if (over <= 0) return Math.max(1, (hits[i] as number) + windowMs - now);
  }
  return 0;
}
