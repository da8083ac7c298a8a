import { longestRead } from "./words.ts";

/** Literal values in a text, in order. */
export interface Literals {
  urls: string[];
  emails: string[];
  quoted: string[];
  code: string[];
  numbers: number[];
  dates: string[];
  paths: string[];
  /** Names with a digit, `_`, `|` or `-` in them: `usr_42`, `auth0|abc`, `gantry/text`. */
  ids: string[];
}

const urlPattern = /https?:\/\/[^\s"'<>`)\]}]+/g;
const emailPattern = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g;
const datePattern = /\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b/g;
const pathPattern = /(?<![\w/.:])\/[\w.-]+(?:\/[\w.-]+)*\/?/g;
const idPattern = /(?<![\w/.@-])(?=[\w|:/-]*[\d_|/-])[a-zA-Z][\w-]*(?:[|:/][\w.-]+)*(?![\w@])/g;
const numberPattern = /(?<![\w.-])-?\d+(?:\.\d+)?(?![\w-]|\.\d)/g;

export function literalsOf(text: string): Literals {
  let rest = text.slice(0, longestRead);
  /** Removes every match, so that later, wider patterns do not match parts of it. */
  const take = (pattern: RegExp, group = 0): string[] => {
    const hits: string[] = [];
    rest = rest.replace(pattern, (...found: unknown[]) => {
      const hit = found[group];
      if (typeof hit === "string") hits.push(hit);
      return " ";
    });
    return hits;
  };
  const code = [...take(/```[a-z]*\n?([^`]*)```/g, 1), ...take(/`([^`\n]+)`/g, 1)];
  const quoted = take(/"([^"\n]{1,2000})"|“([^”\n]{1,2000})”/g, 1);
  quoted.push(...take(/(?<![\p{L}\p{N}])'([^'\n]{1,2000})'(?![\p{L}\p{N}])/gu, 1));
  const urls = take(urlPattern).map((url) => url.replace(/[.,;:!?]+$/, ""));
  const emails = take(emailPattern).map((email) => email.replace(/\.+$/, ""));
  const dates = take(datePattern);
  const paths = take(pathPattern).map((path) => path.replace(/\.$/, ""));
  const ids = take(idPattern);
  const numbers = take(numberPattern).map(Number);
  const inQuotes = (pattern: RegExp) => quoted.flatMap((text) => text.match(pattern) ?? []);
  return {
    code,
    quoted,
    urls: [...urls, ...inQuotes(urlPattern)],
    emails: [...emails, ...inQuotes(emailPattern)],
    dates: [...dates, ...inQuotes(datePattern)],
    paths: [...paths, ...quoted.filter((text) => text.startsWith("/"))],
    ids,
    numbers,
  };
}

/** Every JSON object or list in a text, and the text without them. */
export function jsonIn(text: string): { values: unknown[]; rest: string } {
  const values: unknown[] = [];
  let rest = "";
  let from = 0;
  let tries = 50;
  const read = text.slice(0, longestRead);
  while (tries-- > 0) {
    const start = read.slice(from).search(/[{[]/);
    if (start < 0) break;
    const open = from + start;
    const close = endOfJson(read, open);
    const value = close === undefined ? undefined : parsed(read.slice(open, close));
    rest += read.slice(from, value === undefined ? open + 1 : open);
    from = value === undefined || close === undefined ? open + 1 : close;
    if (value !== undefined) values.push(value);
  }
  return { values, rest: rest + read.slice(from) };
}

function endOfJson(text: string, open: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let i = open; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return i + 1;
  }
  return undefined;
}

/** Rules walk values recursively. */
const mostLevels = 40;

function isWithinDepth(value: unknown, levels = mostLevels): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWithinDepth(entry, levels - 1));
}

export function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && isWithinDepth(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
