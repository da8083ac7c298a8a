/**
 * Shorter ones are found everywhere by chance: hiding them would hide half of every text. None is stored any more that has
 * fewer than eight characters; this is for those that were.
 */
const shortestHidden = 6;
/** What stands behind a scheme's word, or is a password, may be any word of a language. */
const shortestPart = 8;

/** What takes a credential, and what it is made of, out of what a server says. */
export interface Hiding {
  mask(text: string): string;
  /** Whether there is something to mask in a value, by the value's JSON: one look in place of one at each of its texts. */
  isIn(json: string): boolean;
}

export const nothingHidden: Hiding = { mask: (text) => text, isIn: () => false };

export function hiding(credential: string): Hiding {
  const secrets = [credential, ...partsOf(credential), ...pairOf(credential)]
    .filter(({ length }) => length >= shortestHidden)
    .flatMap((secret) => [secret, inJson(secret)]);
  // One may be a part of another, which then would stand there without it.
  const longestFirst = [...new Set(secrets)].sort((one, other) => other.length - one.length);
  const written = [...new Set(longestFirst.map(inJson))];
  const shortest = longestFirst.at(-1)?.length ?? Number.POSITIVE_INFINITY;
  return {
    mask: (text) =>
      text.length < shortest
        ? text
        : longestFirst.reduce((shown, secret) => shown.replaceAll(secret, "[hidden]"), text),
    isIn: (json) => written.some((secret) => json.includes(secret)),
  };
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1);

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
  return colon === -1 ? [] : [pair, pair.slice(colon + 1)].filter(({ length }) => length >= shortestPart);
}
