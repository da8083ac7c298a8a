/** The address of a server on this machine. One that listens on all addresses is called by the machine's own. */
export function addressToCall(host: string, port: number): string {
  if (host === "0.0.0.0") return `http://127.0.0.1:${port}`;
  return listeningAddress(host === "::" ? "::1" : host, port);
}

export function listeningAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
