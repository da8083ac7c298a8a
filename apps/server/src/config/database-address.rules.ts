import { wrong } from "./setting-kinds.ts";

/** As libpq has them. */
const sslModes = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** Those that never go on without TLS. */
const encryptingModes = ["require", "verify-ca", "verify-full"];
const ofTls = ["sslrootcert", "sslcert", "sslkey"];

/** What libpq would take in DATABASE_URL and Gantry does not, so that nobody believes it was heeded. */
export function checkDatabaseAddress({ hostname, searchParams }: URL): void {
  const host = searchParams.get("host");
  if (hostname.toLowerCase().startsWith("%2f") || host?.startsWith("/")) wrong("names a socket: name a host instead");
  if (host !== null) wrong("has host=, which must stand before the path instead");
  if (hostname.includes(",")) wrong("names several hosts: name one");
  for (const name of ["sslmode", ...ofTls]) {
    if (searchParams.getAll(name).length > 1) wrong(`has ${name} more than once`);
  }
  const mode = searchParams.get("sslmode") ?? undefined;
  if (mode !== undefined && !sslModes.includes(mode)) {
    wrong(`has sslmode=${mode}, which must be one of ${sslModes.join(", ")}`);
  }
  const idle = ofTls.find((name) => searchParams.has(name));
  if (idle && !encryptingModes.includes(mode ?? "disable")) {
    wrong(`has ${idle}, which is of use only with an sslmode of ${encryptingModes.join(", ")}`);
  }
  if (searchParams.has("sslcert") !== searchParams.has("sslkey"))
    wrong("has one of sslcert and sslkey without the other");
  if (searchParams.get("channel_binding") === "require") {
    wrong("has channel_binding=require, which Gantry cannot do: use sslmode=verify-full, which proves the server too");
  }
}
