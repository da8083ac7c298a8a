import { Fault, fault } from "../../kernel/errors.ts";

/**
 * Errors that say "the server is away, or threw us out", by Node's code, the driver's code or SQLSTATE. SQLSTATE
 * classes 08 (connection) and 53 (out of connections, memory, disk) count as a whole.
 */
const awayCodes = new Set([
  ...["ECONNREFUSED", "ECONNRESET", "EPIPE", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENOENT", "EADDRNOTAVAIL", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"],
  ...["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "CONNECTION_ENDED", "CONNECT_TIMEOUT"],
  ...["57014", "57P01", "57P02", "57P03", "57P05", "25P03", "25P04"],
  "25006", // read only: a failover left us on a standby
]);

/** The driver keeps a connection after these, so it may be used again. */
const harmlessCodes = new Set(["57014"]);

export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "";
}

/** A query that was answered by the server with an error, as opposed to one that was not answered properly. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === "PostgresError";
}

export function isAway(error: unknown): boolean {
  const code = codeOf(error);
  return awayCodes.has(code) || (isAnswer(error) && /^(08|53)/.test(code));
}

export function endsConnection(error: unknown): boolean {
  return isAway(error) && !harmlessCodes.has(codeOf(error));
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof Fault && error.type === "service_unavailable";
}

export function unavailable(message: string, cause?: unknown): Fault {
  return fault("service_unavailable", message, { cause });
}

/** What a caller sees: the server being away is a fault, everything else (a bug in the SQL, a constraint) stays as it is. */
export function translate(error: unknown): unknown {
  return isAway(error) ? unavailable("The database cannot be reached for the moment.", error) : error;
}
