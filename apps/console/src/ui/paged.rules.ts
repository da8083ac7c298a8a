interface Listed {
  results: readonly unknown[];
  page: number;
  total_pages: number;
}

/** The page to go to from one that lies behind the end: what stood on it may have been deleted. */
export function lastPageInstead({ results, page, total_pages }: Listed): number | undefined {
  if (results.length > 0 || page <= 1 || total_pages === 0) return undefined;
  return Math.min(total_pages, page - 1);
}
