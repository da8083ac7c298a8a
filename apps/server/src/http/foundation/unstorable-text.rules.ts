import type { Loc } from "../../kernel/errors.ts";

/** Valid UTF-8 can contain these only as JSON escapes. */
const escaped = /\\u(?:0000|[dD][89a-fA-F])/;

export const nulText = "NUL characters are not allowed";
const loneSurrogateText = "The text is not valid Unicode: it has a lone surrogate";

/** Text that PostgreSQL cannot store, and its location. */
export interface Unstorable {
  loc: Loc;
  why: string;
}

function whyNot(text: unknown): string | undefined {
  if (typeof text !== "string") return undefined;
  if (text.includes("\0")) return nulText;
  return text.isWellFormed() ? undefined : loneSurrogateText;
}

/** Its location is built only if it is refused. */
interface Part {
  value: unknown;
  step?: string | number;
  within?: Part;
}

/**
 * The first text or field name in a JSON body that cannot be stored. Iterates level by level, because the depth of the
 * body has not been checked yet.
 */
export function unstorableInJson(json: string, body: unknown): Unstorable | undefined {
  if (!escaped.test(json)) return undefined;
  const parts: Part[] = [{ value: body }];
  for (const part of parts) {
    const { value, step } = part;
    const why = whyNot(step) ?? whyNot(value);
    if (why !== undefined) return { loc: ["body", ...locOf(part)], why };
    if (typeof value !== "object" || value === null) continue;
    for (const [key, each] of Object.entries(value)) {
      parts.push({ value: each, step: Array.isArray(value) ? Number(key) : key, within: part });
    }
  }
  return undefined;
}

function locOf(part: Part): Loc {
  const loc: (string | number)[] = [];
  for (let at: Part | undefined = part; at?.step !== undefined; at = at.within) loc.unshift(at.step);
  return loc;
}

/** The path or query parameter that contains a NUL, which an address encodes as `%00`. */
export function nulInAddress(url: string, params: unknown, query: unknown): Loc | undefined {
  if (!url.includes("%00")) return undefined;
  for (const [part, values] of [["path", params] as const, ["query", query] as const]) {
    for (const [name, value] of Object.entries(Object(values))) {
      if ([name, value].flat().some((text) => String(text).includes("\0"))) return [part, name === "*" ? "path" : name];
    }
  }
  return ["path"];
}
