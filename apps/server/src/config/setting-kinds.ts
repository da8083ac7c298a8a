import { availableParallelism } from "node:os";

/** A row of the settings table. `read` receives the trimmed value, or undefined if unset. */
export interface Setting<T> {
  meaning: string;
  /** The default as the documentation shows it. */
  shown: string;
  /** Allowed values, for the documentation and for the error message. */
  takes?: string;
  /** Another name of the same variable, which takes precedence. */
  also?: string;
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

const mostProcesses = 64;

export const processes = (meaning: string): Setting<number> => {
  const { read } = integer(meaning, 1, 1, mostProcesses);
  const takes = `auto or a whole number from 1 to ${mostProcesses}`;
  return {
    meaning,
    shown: "auto",
    takes,
    read(given) {
      if (given === undefined || given === "auto") return ofThisMachine();
      try {
        return read(given);
      } catch {
        return wrong(`must be ${takes}`);
      }
    },
  };
};

/** The other half is for PostgreSQL, pictures and model servers. */
function ofThisMachine(): number {
  return Math.min(mostProcesses, Math.max(1, Math.floor(availableParallelism() / 2)));
}

/** Undefined if unset: the default depends on other settings. */
export const optionalFlag = (meaning: string, shown: string): Setting<boolean | undefined> => {
  const takes = "1 or 0";
  const read = (given: string | undefined): boolean | undefined => {
    if (given === undefined) return undefined;
    if (given === "0" || given === "false") return false;
    if (given === "1" || given === "true") return true;
    return wrong(`must be ${takes}`);
  };
  return { meaning, shown, takes, read };
};

export const flag = (meaning: string): Setting<boolean> => {
  const { read, ...rest } = optionalFlag(meaning, "0");
  return { ...rest, read: (given) => read(given) ?? false };
};

/** On unless it is switched off. */
export const flagOn = (meaning: string): Setting<boolean> => {
  const { read, ...rest } = optionalFlag(meaning, "1");
  return { ...rest, read: (given) => read(given) ?? true };
};

export const choice = <const T extends string>(meaning: string, allowed: readonly T[], fallback: T): Setting<T> => {
  const takes = `one of ${allowed.join(", ")}`;
  const read = (given: string | undefined): T => {
    if (given === undefined) return fallback;
    return allowed.find((one) => one === given) ?? wrong(`must be ${takes}`);
  };
  return { meaning, shown: fallback, takes, read };
};

/** A value that travels in a header, checked here because it would otherwise fail at the first call. */
export const headerValue = (meaning: string, min = 1, max = 4096): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  takes: `${min} to ${max} characters of printable ASCII without spaces`,
  read: (given) => {
    if (given === undefined) return undefined;
    if (given.length < min || given.length > max) wrong(`must have ${min} to ${max} characters`);
    if (!/^[\x21-\x7e]+$/.test(given)) wrong("must be printable ASCII without spaces, because it is sent in a header");
    return given;
  },
});

const beginningWith = (protocols: readonly string[]): string =>
  `a URL that starts with ${protocols.map((one) => `${one}//`).join(" or ")}`;

const invalid = (): never =>
  wrong("is not a valid URL. It has one host and a port up to 65535; in credentials, write / as %2F and % as %25");

function addressOf(given: string, protocols: readonly string[]): URL {
  if (!protocols.some((one) => given.toLowerCase().startsWith(`${one}//`))) {
    return wrong(`must be ${beginningWith(protocols)}`);
  }
  const url = URL.parse(given);
  try {
    decodeURIComponent(`${url?.username}${url?.password}${url?.pathname}`);
    return url ?? invalid();
  } catch {
    return invalid();
  }
}

const ofWeb = ["http:", "https:"];

/** A base URL: paths are appended to it. */
export const webAddress = (meaning: string): Setting<string | undefined> => ({
  meaning,
  shown: "unset",
  takes: beginningWith(ofWeb),
  read: (given) => {
    if (given === undefined) return undefined;
    const { username, password } = addressOf(given, ofWeb);
    if (username !== "" || password !== "") wrong("must not contain a user or a password");
    if (/[\s?#]/.test(given)) wrong("must not contain spaces, ? or #, because paths are appended to it");
    return given.replace(/\/+$/, "");
  },
});

/** A connection URL of an external service, with credentials and options. */
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
    if (given.includes("#")) wrong("must not contain #. In a password, write it as %23");
    check(addressOf(given, protocols));
    return given.replace(/\/+$/, "");
  },
});

export const sealingKey = (meaning: string): Setting<string | undefined> => {
  const takes = "32 bytes in base64";
  const read = (given: string | undefined): string | undefined => {
    if (given === undefined || /^[A-Za-z0-9+/]{43}=$/.test(given)) return given;
    return wrong(`must be ${takes}. Create one with: openssl rand -base64 32`);
  };
  return { meaning, shown: "unset", takes, read };
};

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
