/**
 * Whether what may be sent to the one address may be sent to the next. From http to https the usual port changes with it;
 * any other port may be somebody else's.
 */
export function keepsOrigin(former: string, next: string): boolean {
  const [from, to] = [new URL(former), new URL(next)];
  const isSecured = from.protocol === "http:" && to.protocol === "https:";
  return from.origin === to.origin || (isSecured && from.host === to.hostname && to.port === "");
}
