export interface HeaderValue {
  /** Before the first semicolon, in lower case. */
  value: string;
  /** By lower-case name; the value of `filename*` is decoded. */
  params: Map<string, string>;
}

const token = /[^\s;="]+/y;
const blanks = /[ \t]*/y;

/**
 * `value; name=token; name="quoted \" string"; name*=UTF-8''percent%20encoded`. Undefined if malformed or if a
 * parameter is given twice: two readers must not read it differently.
 */
export function parseHeaderValue(text: string): HeaderValue | undefined {
  const first = text.indexOf(";");
  const value = (first === -1 ? text : text.slice(0, first)).trim().toLowerCase();
  const params = new Map<string, string>();
  let at = first === -1 ? text.length : first;
  while (at < text.length) {
    if (text[at] !== ";") return undefined;
    at = skip(text, at + 1);
    // A trailing semicolon is common.
    if (at === text.length) break;
    const name = match(token, text, at)?.toLowerCase();
    if (!name || text[at + name.length] !== "=" || params.has(name)) return undefined;
    at += name.length + 1;
    const read = text[at] === '"' ? quoted(text, at + 1) : plain(text, at);
    if (!read) return undefined;
    at = skip(text, read.end);
    const decoded = name.endsWith("*") ? extended(read.value) : read.value;
    if (decoded !== undefined) params.set(name, decoded);
  }
  return { value, params };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

function skip(text: string, at: number): number {
  return at + (match(blanks, text, at)?.length ?? 0);
}

function plain(text: string, at: number): { value: string; end: number } | undefined {
  const value = match(token, text, at);
  return value === undefined ? undefined : { value, end: at + value.length };
}

/** A backslash escapes a quote and itself; elsewhere it is literal, because old browsers send Windows paths. */
function quoted(text: string, from: number): { value: string; end: number } | undefined {
  let value = "";
  for (let at = from; at < text.length; at++) {
    const char = text[at];
    if (char === '"') return { value, end: at + 1 };
    const next = text[at + 1];
    if (char === "\\" && (next === '"' || next === "\\")) {
      value += next;
      at++;
    } else {
      value += char;
    }
  }
  return undefined;
}

/** RFC 5987. Ignored unless the character set is UTF-8. */
function extended(text: string): string | undefined {
  const parts = /^utf-8'[^']*'(.*)$/i.exec(text);
  try {
    return parts?.[1] === undefined ? undefined : decodeURIComponent(parts[1]);
  } catch {
    return undefined;
  }
}
