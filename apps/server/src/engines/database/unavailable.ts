import pg from "pg";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Trouble } from "./database.ts";

/** A failover left us on a standby, or someone has closed it to writes. */
const readOnly = "25006";
/** Our role has not, or no longer, the rights that it needs. */
const denied = "42501";

/**
 * Errors that say "the server is away, or threw us out, or lets us do nothing, or has nothing left to work with", by Node's code or
 * SQLSTATE. SQLSTATE classes 08 (connection) and 53 (out of connections, memory, disk) count as a whole.
 */
const awayCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOENT", "EADDRNOTAVAIL", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"],
  ...["57014", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04"],
  readOnly,
  denied,
]);

const diskFull = "53100";
/** The driver keeps a connection after these, so it may be used again. */
const harmlessCodes = new Set(["57014", diskFull, denied]);

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** A query that was answered by the server with an error, as opposed to one that was not answered properly. */
export function isAnswer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** A migration has changed what a prepared statement answers with: unprepared it works. */
export function isOutdatedPlan(error: unknown): boolean {
  return isAnswer(error) && error.routine === "RevalidateCachedQuery";
}

export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return awayCodes.has(code) || (isAnswer(error) && /^(08|53)/.test(code));
}

export function endsConnection(error: unknown): boolean {
  return isAway(error) && !harmlessCodes.has(codeOf(error));
}

const hasCode = (error: unknown, code: string): boolean =>
  codeOf(error) === code || (error instanceof Fault && codeOf(error.cause) === code);

/** The server is there and has no room for what the query would have stored. */
export function isDiskFull(error: unknown): boolean {
  return hasCode(error, diskFull);
}

export function isDenied(error: unknown): boolean {
  return hasCode(error, denied);
}

/** Why no connection is to be had, as far as the server has said. */
export function troubleOf(refusal: unknown): Trouble {
  if (isOutOfConnections(refusal)) return "no connection left";
  return isAnswer(refusal) && codeOf(refusal).startsWith("28") ? "login refused" : "away";
}

/** All that the server, the database or the role may have are taken. */
export function isOutOfConnections(error: unknown): boolean {
  return codeOf(error) === "53300";
}

export function unavailable(message: string, cause?: unknown): Fault {
  return fault("service_unavailable", message, { cause });
}

/** What a caller sees: the server being away is a fault, everything else (a bug in the SQL, a constraint) stays as it is. */
export function translate(error: unknown): unknown {
  return isAway(error) ? awayFor(error) : error;
}

/** Why the server cannot be used, which it may have said itself. */
export function awayFor(error: unknown): Fault {
  const code = isAnswer(error) ? codeOf(error) : "";
  if (code === diskFull) {
    return unavailable("The database has no room left: nothing can be stored for the moment.", error);
  }
  if (code === readOnly) {
    return unavailable("The database is read-only: nothing can be stored for the moment.", error);
  }
  if (code === denied) {
    return unavailable("The database denies its role what is needed: nothing can be done for the moment.", error);
  }
  return unavailable("The database cannot be reached for the moment.", error);
}

/**
 * What the system, or a server that just started, says of a full disk names no place: this says which, and what to do.
 * Other errors stay as they are.
 */
export function orNoRoomIn(place: string, error: unknown): unknown {
  const isFull = ["ENOSPC", "EDQUOT"].includes(codeOf(error)) || isDiskFull(error);
  if (!isFull || !(error instanceof Error)) return error;
  return noRoomIn(place, error.cause instanceof Error ? error.cause.message : error.message, error);
}

export function noRoomIn(place: string, reason: string, cause?: unknown): Error {
  return new Error(`There is no room left on the disk of ${place}: make some, then try again. ${reason}`, { cause });
}
