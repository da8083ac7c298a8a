/**
 * Shorter ones are found everywhere by chance: hiding them would hide half of every text. None is stored any more that has
 * fewer than eight characters; this is for those that were.
 */
const shortestHidden = 6;
/** What stands behind a scheme's word may be any word of a language. */
const shortestPart = 8;

/** What takes a credential, and what it is made of, out of a text. */
export function hiding(credential: string): (text: string) => string {
  const secrets = [credential, ...partsOf(credential), ...pairOf(credential)]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    // One may be a part of another, which then would stand there without it.
    .sort((one, other) => other.length - one.length);
  return (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text);
}

/** `Token abc…`: a server repeats what it looks at, which is not always the whole header. */
function partsOf(credential: string): string[] {
  const [, ...behind] = credential.split(/\s+/);
  return behind.filter(({ length }) => length >= shortestPart);
}

/** The name and the password of `Basic`, together and the password alone. */
function pairOf(credential: string): string[] {
  const [, encoded] = /^basic\s+([a-z0-9+/=_-]+)$/i.exec(credential) ?? [];
  if (encoded === undefined) return [];
  const pair = Buffer.from(encoded, "base64").toString("utf8");
  const colon = pair.indexOf(":");
  return colon === -1 ? [] : [pair, pair.slice(colon + 1)];
}
