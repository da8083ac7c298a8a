/** URL for calls on this machine. A server on all addresses is reached by the loopback address. */
export function addressToCall(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  return listeningAddress(host === "::" ? "::1" : host, port);
}

export function listeningAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
