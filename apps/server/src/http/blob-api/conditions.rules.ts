import type { IncomingHttpHeaders } from "node:http";
import { etagMatches } from "./byte-range.rules.ts";

interface Standing {
  /** With its quotes. */
  etag: string;
  modifiedAt: Date;
}

/** The three forms of a date in HTTP; all begin with the day, and only the oldest one does not name its zone. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [A-Za-z0-9 :-]+$/;

/** Milliseconds in whole seconds, which is all that the headers can say. Undefined for what is no date. */
function secondsOf(header: string | undefined): number | undefined {
  if (header === undefined || !httpDate.test(header)) return undefined;
  const millis = Date.parse(header.endsWith("GMT") ? header : `${header} GMT`);
  return Number.isNaN(millis) ? undefined : millis;
}

function isModifiedSince({ modifiedAt }: Standing, since: number): boolean {
  return Math.floor(modifiedAt.getTime() / 1000) * 1000 > since;
}

/**
 * What a read comes to before any range is looked at, in the order of RFC 9110, 13.2.2. A version says more than a time:
 * where the header about one is given, that about the other is not looked at.
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
