interface Listed {
  results: readonly unknown[];
  page: number;
  total_pages: number;
}

/** Where to go from a page beyond the end, for example after its last entry was deleted. */
export function lastPageInstead({ results, page, total_pages }: Listed): number | undefined {
  if (results.length > 0 || page <= 1 || total_pages === 0) return undefined;
  return Math.min(total_pages, page - 1);
}
