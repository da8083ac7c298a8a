import { NetError } from "./net.ts";

const noConnection: ReadonlyMap<string, string> = new Map([
  ["ECONNREFUSED", ": the connection was refused"],
  ["ENOTFOUND", ": its name is not known"],
  ["EAI_AGAIN", ": its name could not be looked up"],
  ["EHOSTUNREACH", ""],
  ["ENETUNREACH", ""],
  ["EADDRNOTAVAIL", ""],
]);
/** An expired, foreign or unvouched certificate, or a server that speaks no TLS at all. */
const untrusted = /^(ERR_TLS|ERR_SSL|CERT_|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

/** Whatever a socket, the resolver or TLS reported, in our few words. The original stays inside as the cause. */
export function toNetError(error: unknown): NetError {
  if (error instanceof NetError) return error;
  const code = codeOf(error);
  const cause = { cause: error };
  if (code === "ETIMEDOUT") return new NetError("timeout", "The server did not answer in time", cause);
  const why = noConnection.get(code);
  if (why !== undefined) return new NetError("unreachable", `The server could not be reached${why}`, cause);
  if (untrusted.test(code)) return new NetError("unreachable", "No secure connection to the server is possible", cause);
  return new NetError("cut", "The server broke off its answer", cause);
}
