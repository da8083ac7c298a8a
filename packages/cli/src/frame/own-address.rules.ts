import { wrongArguments } from "./failure.ts";

/** Where `serve` listens with these settings. The command does not load the server to find out. */
export function ownAddress(environment: Readonly<Record<string, string | undefined>>): string {
  const host = environment.HOST?.trim() || "127.0.0.1";
  const port = environment.PORT?.trim() || "8080";
  if (!/^[A-Za-z0-9._:%-]+$/.test(host)) {
    throw wrongArguments(`HOST must be a host name or IP address of this machine, not ${JSON.stringify(host)}.`);
  }
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw wrongArguments(`PORT must be a whole number from 0 to 65535, not ${JSON.stringify(port)}.`);
  }
  // A server on all addresses is reached by the loopback address.
  const called = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  return `http://${called.includes(":") ? `[${called}]` : called}:${port}`;
}
