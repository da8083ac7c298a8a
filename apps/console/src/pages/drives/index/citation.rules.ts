import type { DriveSearchResult } from "@gantry/sdk";

/** Where the text is in its file, such as "page 3, lines 10–24". Empty: not known. */
export function citation({ page, line_from: from, line_to: to }: DriveSearchResult): string {
  const lines = from === undefined ? [] : [to === undefined || to === from ? `line ${from}` : `lines ${from}–${to}`];
  return [...(page === undefined ? [] : [`page ${page}`]), ...lines].join(", ");
}
