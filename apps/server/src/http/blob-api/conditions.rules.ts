import type { IncomingHttpHeaders } from "node:http";

interface Standing {
  /** With its quotes. */
  etag: string;
  modifiedAt: Date;
}

/** The three date formats of HTTP. All begin with the day; only the oldest one does not name its zone. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [A-Za-z0-9 :-]+$/;

/** Milliseconds, rounded to whole seconds as in headers. Undefined if the header is not a date. */
function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined || !httpDate.test(header)) return undefined;
  const millis = Date.parse(header.endsWith("GMT") ? header : `${header} GMT`);
  return Number.isNaN(millis) ? undefined : millis;
}

function isModifiedSince({ modifiedAt }: Standing, since: number): boolean {
  return Math.floor(modifiedAt.getTime() / 1000) * 1000 > since;
}

/**
 * Evaluates preconditions before ranges, in the order of RFC 9110, 13.2.2. If an ETag header is given, the matching
 * date header is ignored.
 */
export function judgeConditions(headers: IncomingHttpHeaders, standing: Standing): "read" | "unchanged" | "failed" {
  const match = headers["if-match"];
  if (match !== undefined) {
    const isNamed = match.trim() === "*" || match.split(",").some((one) => one.trim() === standing.etag);
    if (!isNamed) return "failed";
  } else {
    const since = secondsOf(headers["if-unmodified-since"]);
    if (since !== undefined && isModifiedSince(standing, since)) return "failed";
  }
  const noneMatch = headers["if-none-match"];
  if (noneMatch !== undefined) return etagMatches(noneMatch, standing.etag) ? "unchanged" : "read";
  const known = secondsOf(headers["if-modified-since"]);
  return known === undefined || isModifiedSince(standing, known) ? "read" : "unchanged";
}

export type RangeAnswer = { kind: "whole" } | { kind: "part"; start: number; end: number } | { kind: "unsatisfiable" };

/**
 * One byte range of RFC 9110. For several ranges, another unit or an invalid header the answer is the whole file, which
 * the RFC allows.
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

/** If-None-Match compares weakly: a `W/` prefix does not count. */
export function etagMatches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === "*") return true;
  return header.split(",").some((candidate) => candidate.trim().replace(/^W\//, "") === etag);
}
