import type { Page } from "@gantry/sdk";

const usualSize = 20;

/** A page of a list of the agents platform, which counts entries and not pages, in the form of all other lists. */
export async function offsetPage<Row>(
  page: number,
  read: (range: { limit: number; offset: number }) => Promise<{ rows: Row[]; total: number }>,
  page_size = usualSize,
): Promise<Page<Row>> {
  const { rows, total } = await read({ limit: page_size, offset: (page - 1) * page_size });
  return { results: rows, page, page_size, total_count: total, total_pages: Math.ceil(total / page_size) };
}
