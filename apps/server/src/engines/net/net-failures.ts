import { NetError } from "./net.ts";

const noConnection: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", ": the connection was refused"],
  ["ENOTFOUND", ": its name does not exist"],
  ["EAI_AGAIN", ": its name could not be looked up"],
  ["EHOSTUNREACH", ""],
  ["ENETUNREACH", ""],
  ["EADDRNOTAVAIL", ""],
]);
/** An invalid or untrusted certificate, or a server without TLS. */
const untrusted = /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** Translates errors of sockets, DNS and TLS. The original is the cause. */
export function toNetError(error: unknown): NetError {
  if (error instanceof NetError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  if (code === "ETIMEDOUT") return new NetError("timeout", "The server did not answer in time", cause);
  const reason = noConnection.get(code);
  if (reason !== undefined) return new NetError("unreachable", `The server could not be reached${reason}`, cause);
  if (untrusted.test(code)) return new NetError("unreachable", "No secure connection to the server is possible", cause);
  return new NetError("cut", "The server's answer is incomplete", cause);
}
