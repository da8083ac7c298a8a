/** The JSON value in what a model answered: the whole text, or the one block of code or object in it. */
export function jsonAnswer(text: string): unknown {
  const trimmed = text.trim();
  return firstJson([trimmed, fenced(trimmed), braced(trimmed)]);
}

function firstJson(candidates: readonly (string | undefined)[]): unknown {
  for (const candidate of candidates) {
    if (candidate === undefined || candidate === "") continue;
    try {
      return JSON.parse(candidate);
    } catch {
      // The next one may be it.
    }
  }
  return undefined;
}

function fenced(text: string): string | undefined {
  const start = text.indexOf("```");
  const end = text.lastIndexOf("```");
  if (start < 0 || end <= start) return undefined;
  return text.slice(text.indexOf("\n", start) + 1, end).trim();
}

function braced(text: string): string | undefined {
  const start = text.indexOf("{");
  const end = text.lastIndexOf("}");
  return start < 0 || end <= start ? undefined : text.slice(start, end + 1);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Levels of nesting: what is deeper overflows the stack of whoever writes it down. */
const deepest = 500;

/**
 * Without a schema: the object that the model answered, else its text. Only a text that is JSON as a whole counts, or is
 * as a whole one block of it: an object among words is a part of what was said.
 */
export function freeOutput(text: string): Record<string, unknown> {
  const trimmed = text.trim();
  const isBlock = trimmed.startsWith("```") && trimmed.endsWith("```");
  const whole = firstJson([trimmed, isBlock ? trimmed.slice(3, -3).replace(/^[\w-]+/, "") : undefined]);
  return isObject(whole) && isWritable(whole, deepest) ? whole : { text };
}

/** Whether it can be written down as what it was read from: a number too large for one has become Infinity. */
function isWritable(value: unknown, levels: number): boolean {
  if (typeof value === "number") return Number.isFinite(value);
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((entry) => isWritable(entry, levels - 1));
}
