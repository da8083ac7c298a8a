/** One row of the table of settings. `read` gets what is set without blanks around it, and undefined where nothing is. */
export interface Setting<T> {
  meaning: string;
  shown: string;
  read(text: string | undefined): T;
}

export class WrongSetting extends Error {}

export const wrong = (message: string): never => {
  throw new WrongSetting(message);
};

export const text = (meaning: string, fallback: string): Setting<string> => ({
  meaning,
  shown: fallback,
  read: (given) => given ?? fallback,
});

export const optional = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  read: (given) => given,
});

export const integer = (meaning: string, fallback: number, min: number, max: number): Setting<number> => ({
  meaning,
  shown: String(fallback),
  read: (given) => {
    if (given === undefined) return fallback;
    const value = Number(given);
    if (!/^\d+$/.test(given) || value < min || value > max) wrong(`must be a whole number from ${min} to ${max}`);
    return value;
  },
});

export const flag = (meaning: string): Setting<boolean> => ({
  meaning,
  shown: "0",
  read: (given) => {
    if (given === undefined || given === "0" || given === "false") return false;
    if (given === "1" || given === "true") return true;
    return wrong("must be 1 or 0");
  },
});

export const choice = <const T extends string>(meaning: string, allowed: readonly T[], fallback: T): Setting<T> => ({
  meaning,
  shown: fallback,
  read: (given) => {
    if (given === undefined) return fallback;
    return allowed.find((one) => one === given) ?? wrong(`must be one of ${allowed.join(", ")}`);
  },
});

/** What is sent in a header: anything else would fail at the first call, and tell nobody why. */
export const headerValue = (meaning: string, min = 1, max = 4096): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  read: (given) => {
    if (given === undefined) return undefined;
    if (given.length < min || given.length > max) wrong(`must have ${min} to ${max} characters`);
    if (!/^[\x21-\x7e]+$/.test(given)) wrong("must be printable ASCII without spaces, as it travels in a header");
    return given;
  },
});

function addressOf(given: string, protocols: readonly string[]): URL {
  const begins = protocols.map((one) => `${one}//`);
  if (!begins.some((one) => given.toLowerCase().startsWith(one))) {
    return wrong(`must be an address that begins with ${begins.join(" or ")}`);
  }
  const url = URL.parse(given);
  if (!url) {
    return wrong("is no address: it has one host, a port up to 65535, and in a user or password / is written as %2F");
  }
  if (![url.username, url.password, url.pathname].every(isEncoded)) {
    return wrong("has a % that begins no code: write it as %25");
  }
  return url;
}

function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** An address that others are put behind: a part that would have to stay last has no place in it. */
export const webAddress = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  read: (given) => {
    if (given === undefined) return undefined;
    const { username, password } = addressOf(given, ["http:", "https:"]);
    if (given.includes(" ")) wrong("must not hold blanks");
    if (username !== "" || password !== "") wrong("must not hold a user or a password");
    if (/[?#]/.test(given)) wrong("must not hold ? or #: what it leads to is put behind it");
    return given.replace(/\/+$/, "");
  },
});

/** An engine elsewhere, with its user and its options. */
export const engineAddress = (
  meaning: string,
  protocols: readonly string[],
  check: (url: URL) => void,
): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  read: (given) => {
    if (given === undefined) return undefined;
    if (given.includes("#")) wrong("must not hold #: in a password write it as %23");
    check(addressOf(given, protocols));
    return given.replace(/\/+$/, "");
  },
});

export const sealingKey = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  read: (given) => {
    if (given === undefined) return undefined;
    if (!/^[A-Za-z0-9+/]{43}=$/.test(given))
      wrong("must be 32 bytes in base64, e.g. made with: openssl rand -base64 32");
    return given;
  },
});
