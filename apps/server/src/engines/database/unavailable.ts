import pg from "pg";
import { Fault, fault } from "../../kernel/errors.ts";
import type { Trouble } from "./database.ts";

const readOnly = "25006";
const denied = "42501";

/** Codes of Node and SQLSTATEs of an unusable server. Classes 08 (connection) and 53 (resources) count as a whole. */
const awayCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOENT", "EADDRNOTAVAIL", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"],
  ...["57014", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04"],
  readOnly,
  denied,
]);

const diskFull = "53100";
/** The connection can be used again after these. */
const harmlessCodes = new Set(["57014", diskFull, denied]);

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** The server answered the query with an error. */
export function isAnswer(error: unknown): error is pg.DatabaseError {
  return error instanceof pg.DatabaseError;
}

/** A migration has changed the columns of a prepared statement. Unprepared it works. */
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

export function isDiskFull(error: unknown): boolean {
  return hasCode(error, diskFull);
}

export function isDenied(error: unknown): boolean {
  return hasCode(error, denied);
}

export function troubleOf(refusal: unknown): Trouble {
  if (isOutOfConnections(refusal)) return "no connection left";
  return isAnswer(refusal) && codeOf(refusal).startsWith("28") ? "login refused" : "away";
}

/** The connection limit of the server, the database or the role is reached. */
export function isOutOfConnections(error: unknown): boolean {
  return codeOf(error) === "53300";
}

export function unavailable(message: string, cause?: unknown): Fault {
  return fault("service_unavailable", message, { cause });
}

/** An unusable server becomes a fault. Other errors, such as constraints and bugs in the SQL, stay unchanged. */
export function translate(error: unknown): unknown {
  return isAway(error) ? awayFor(error) : error;
}

export function awayFor(error: unknown): Fault {
  const code = isAnswer(error) ? codeOf(error) : "";
  if (code === diskFull) return unavailable("The database disk is full. Nothing can be stored.", error);
  if (code === readOnly) return unavailable("The database is read-only. Nothing can be stored.", error);
  if (code === denied) return unavailable("The database role lacks privileges on its tables or schema.", error);
  return unavailable("The database cannot be reached.", error);
}

/** Adds the folder and advice to the error of a full disk. Other errors stay unchanged. */
export function explainFullDisk(folder: string, error: unknown): unknown {
  const isFull = ["ENOSPC", "EDQUOT"].includes(codeOf(error)) || isDiskFull(error);
  if (!isFull || !(error instanceof Error)) return error;
  return diskFullError(folder, error.cause instanceof Error ? error.cause.message : error.message, error);
}

export function diskFullError(folder: string, reason: string, cause?: unknown): Error {
  return new Error(`The disk of ${folder} is full. Free some space, then try again. ${reason}`, { cause });
}
