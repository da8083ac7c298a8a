import type { Page } from "@gantry/sdk";

const defaultSize = 20;

/** Adapts the agents API, which pages by offset, to the page format of the other lists. */
export async function offsetPage<Row>(
  page: number,
  read: (range: { limit: number; offset: number }) => Promise<{ rows: Row[]; total: number }>,
  page_size = defaultSize,
): Promise<Page<Row>> {
  const { rows, total } = await read({ limit: page_size, offset: (page - 1) * page_size });
  return { results: rows, page, page_size, total_count: total, total_pages: Math.ceil(total / page_size) };
}
