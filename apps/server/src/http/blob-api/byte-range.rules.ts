export type RangeAnswer = { kind: "whole" } | { kind: "part"; start: number; end: number } | { kind: "unsatisfiable" };

/**
 * One range of bytes as RFC 9110 reads it. Several ranges, another unit, or what is no range at all is answered with
 * the whole, which the RFC allows.
 */
export function chooseRange(header: string | undefined, size: number): RangeAnswer {
  const parts = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(header ?? "");
  const [, first = "", last = ""] = parts ?? [];
  if (first === "" && last === "") return { kind: "whole" };
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? { kind: "unsatisfiable" } : { kind: "part", start: size - length, end: size - 1 };
  }
  const start = Number(first);
  const end = last === "" ? size - 1 : Math.min(Number(last), size - 1);
  if (last !== "" && Number(last) < start) return { kind: "whole" };
  return start >= size ? { kind: "unsatisfiable" } : { kind: "part", start, end };
}

/** If-None-Match compares weakly: a `W/` before either side does not count. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
