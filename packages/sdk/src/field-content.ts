/** What is there as a whole and can be read again; undefined for all else. */
export function bytesAsBlob(content: unknown): Blob | undefined {
  if (content instanceof Blob) return content;
  const isBytes = content instanceof ArrayBuffer || ArrayBuffer.isView(content);
  return isBytes ? new Blob([content as Uint8Array<ArrayBuffer>]) : undefined;
}

/**
 * A value as the text of a field; lists and objects as JSON. What would arrive as nothing, or as something else, is refused:
 * it would be paid for all the same.
 */
export function textOrRefusal(field: string, value: NonNullable<unknown>): string {
  if (isNoValue(value)) throw refusalOf(field, value, value);
  if (value instanceof URL) return value.href;
  if (value instanceof Date) return value.toISOString();
  return isScalar(value) ? String(value) : jsonOrRefusal(field, value);
}

function jsonOrRefusal(field: string, value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, told: unknown) {
    // `told` is what the value itself says to be in JSON: a date its text, bytes a list of numbers. It is not asked again.
    const given = this[name];
    const isUntold = told === undefined && given !== undefined;
    if (isUntold || isLostInJson(given) || isLostInJson(told) || isEmptied(told)) throw refusalOf(field, value, given);
    return told;
  });
}

function refusalOf(field: string, whole: unknown, part: unknown): TypeError {
  const kind = isNoValue(part) ? String(part) : kindOf(part);
  const what = `${kind}${Object.is(whole, part) ? "" : " within a list or an object"}`;
  const taken = "texts, numbers, booleans, lists and plain objects of them, or a Blob or bytes as a file";
  return new TypeError(`What the field ${field} holds cannot be sent (${what}): a field takes ${taken}`);
}

/** A number or a date that is none: JSON has no word for it. */
function isNoValue(value: unknown): boolean {
  if (value instanceof Date) return Number.isNaN(value.getTime());
  return typeof value === "number" && !Number.isFinite(value);
}

function isScalar(value: unknown): boolean {
  return ["string", "number", "boolean", "bigint"].includes(typeof value);
}

function isLostInJson(value: unknown): boolean {
  if (isNoValue(value) || ["function", "symbol", "bigint"].includes(typeof value)) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // Promises, and what is read piece by piece: streams, maps, sets, bytes.
  if ("then" in value && typeof value.then === "function") return true;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** Whether nothing is left of what has a class: it keeps what it holds where JSON does not look. */
function isEmptied(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isPlain(value) && Object.keys(value).length === 0;
}

/** An object with fields and nothing else, of whatever realm. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** The name of its class, or of its type. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return (typeof value === "object" && value.constructor?.name) || typeof value;
}
