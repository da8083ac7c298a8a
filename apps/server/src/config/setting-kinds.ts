/** One row of the table of settings. `read` gets what is set without blanks around it, and undefined where nothing is. */
export interface Setting<T> {
  meaning: string;
  /** The default, for the documentation. */
  shown: string;
  /** What may be set, where not every text may: the same words for the documentation and for whoever set something else. */
  takes?: string;
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

export const integer = (meaning: string, fallback: number, min: number, max: number): Setting<number> => {
  const takes = `a whole number from ${min} to ${max}`;
  const read = (given: string | undefined): number => {
    if (given === undefined) return fallback;
    const value = Number(given);
    if (!/^\d+$/.test(given) || value < min || value > max) wrong(`must be ${takes}`);
    return value;
  };
  return { meaning, shown: String(fallback), takes, read };
};

export const flag = (meaning: string): Setting<boolean> => {
  const takes = "1 or 0";
  const read = (given: string | undefined): boolean => {
    if (given === undefined || given === "0" || given === "false") return false;
    if (given === "1" || given === "true") return true;
    return wrong(`must be ${takes}`);
  };
  return { meaning, shown: "0", takes, read };
};

export const choice = <const T extends string>(meaning: string, allowed: readonly T[], fallback: T): Setting<T> => {
  const takes = `one of ${allowed.join(", ")}`;
  const read = (given: string | undefined): T => {
    if (given === undefined) return fallback;
    return allowed.find((one) => one === given) ?? wrong(`must be ${takes}`);
  };
  return { meaning, shown: fallback, takes, read };
};

/** What is sent in a header: anything else would fail at the first call, and tell nobody why. */
export const headerValue = (meaning: string, min = 1, max = 4096): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  takes: `${min} to ${max} characters of printable ASCII without spaces`,
  read: (given) => {
    if (given === undefined) return undefined;
    if (given.length < min || given.length > max) wrong(`must have ${min} to ${max} characters`);
    if (!/^[\x21-\x7e]+$/.test(given)) wrong("must be printable ASCII without spaces, as it travels in a header");
    return given;
  },
});

const beginningWith = (protocols: readonly string[]): string =>
  `an address that begins with ${protocols.map((one) => `${one}//`).join(" or ")}`;

function addressOf(given: string, protocols: readonly string[]): URL {
  if (!protocols.some((one) => given.toLowerCase().startsWith(`${one}//`))) {
    return wrong(`must be ${beginningWith(protocols)}`);
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

const ofWeb = ["http:", "https:"];

/** An address that others are put behind: a part that would have to stay last has no place in it. */
export const webAddress = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  takes: beginningWith(ofWeb),
  read: (given) => {
    if (given === undefined) return undefined;
    const { username, password } = addressOf(given, ofWeb);
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
  takes: beginningWith(protocols),
  read: (given) => {
    if (given === undefined) return undefined;
    if (given.includes("#")) wrong("must not hold #: in a password write it as %23");
    check(addressOf(given, protocols));
    return given.replace(/\/+$/, "");
  },
});

export const sealingKey = (meaning: string): Setting<string | undefined> => {
  const takes = "32 bytes in base64";
  const read = (given: string | undefined): string | undefined => {
    if (given === undefined || /^[A-Za-z0-9+/]{43}=$/.test(given)) return given;
    return wrong(`must be ${takes}, e.g. made with: openssl rand -base64 32`);
  };
  return { meaning, shown: "unset", takes, read };
};

/** Any other text that must be of a certain form. */
export const textLike = <const F extends string | undefined>(
  meaning: string,
  takes: string,
  isRight: (given: string) => boolean,
  fallback: F,
): Setting<string | F> => ({
  meaning,
  shown: fallback ?? "unset",
  takes,
  read: (given) => (given === undefined ? fallback : isRight(given) ? given : wrong(`must be ${takes}`)),
});
