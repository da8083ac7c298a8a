/** Arguments for the next page; undefined if this is the last page or the response does not tell. */
export function nextPage(
  paginated: "none" | "page" | "checkpoint",
  result: unknown,
): Record<string, string> | undefined {
  if (paginated === "none" || typeof result !== "object" || result === null) return undefined;
  const { next, start, limit, total, page, per_page } = result as Record<string, unknown>;
  if (typeof next === "string" && next !== "") return { from: next };
  if (typeof total !== "number") return undefined;
  const size = typeof limit === "number" ? limit : per_page;
  if (typeof size !== "number" || size < 1) return undefined;
  const at = typeof page === "number" ? page : typeof start === "number" ? Math.floor(start / size) : undefined;
  return at !== undefined && (at + 1) * size < total ? { page: String(at + 1) } : undefined;
}
