interface Page<Entry> {
  entries: readonly Entry[];
  total: number;
}

const pageSize = 100;

/**
 * All entries of a list with pages, newest first or sorted. Entries that are created meanwhile move the rest to later
 * pages and appear twice, which `idOf` detects. Entries that are deleted move the rest to earlier pages, so the next
 * page starts that many entries earlier.
 */
export async function* everyEntry<Entry>(
  read: (page: { limit: number; offset: number }) => Promise<Page<Entry>>,
  idOf: (entry: Entry) => string,
): AsyncGenerator<Entry> {
  let seen = new Set<string>();
  let total = 0;
  for (let offset = 0; ; ) {
    const page = await read({ limit: pageSize, offset });
    const gone = Math.min(offset, Math.max(0, total - page.total));
    total = page.total;
    if (gone > 0) {
      offset -= gone;
      continue;
    }
    const fresh = page.entries.filter((entry) => !seen.has(idOf(entry)));
    yield* fresh;
    if (page.entries.length < pageSize) return;
    offset += page.entries.length;
    // Enough to recognize what a page or two have moved.
    seen = new Set([...[...seen].slice(-pageSize), ...page.entries.map(idOf)]);
  }
}
