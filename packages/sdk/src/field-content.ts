/** Complete content that can be read again; undefined for anything else. */
export function bytesAsBlob(content: unknown): Blob | undefined {
  if (content instanceof Blob) return content;
  const isBytes = content instanceof ArrayBuffer || ArrayBuffer.isView(content);
  return isBytes ? new Blob([content as Uint8Array<ArrayBuffer>]) : undefined;
}

export function fileOrRefusal(content: unknown): Blob {
  const file = bytesAsBlob(content);
  if (file) return file;
  throw new TypeError(
    `A file must be a Blob or bytes, not ${kindOf(content)}. Use openAsBlob of node:fs for a file on disk.`,
  );
}

/**
 * The text of a field; lists and objects as JSON. Values that would arrive empty or changed are refused, because the
 * call would be charged anyway.
 */
export function textOrRefusal(field: string, value: NonNullable<unknown>): string {
  if (isNoValue(value)) throw refusalOf(field, value, value);
  if (value instanceof URL) return value.href;
  if (value instanceof Date) return value.toISOString();
  return isScalar(value) ? String(value) : jsonOrRefusal(field, value);
}

function jsonOrRefusal(field: string, value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, told: unknown) {
    // Uses the JSON form of the value: the text of a date, or bytes as numbers.
    const given = this[name];
    const isUntold = told === undefined && given !== undefined;
    if (isUntold || isLostInJson(given) || isLostInJson(told) || isEmptied(told)) throw refusalOf(field, value, given);
    return told;
  });
}

function refusalOf(field: string, whole: unknown, part: unknown): TypeError {
  const kind = isNoValue(part) ? String(part) : kindOf(part);
  const what = `${kind}${Object.is(whole, part) ? "" : " within a list or an object"}`;
  const taken = "strings, numbers, booleans, lists and plain objects of them, or a Blob or bytes as a file";
  return new TypeError(`The value of ${field} cannot be sent (${what}). Use ${taken}.`);
}

/** NaN, Infinity or an invalid date, which JSON cannot express. */
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
  // Promises, streams, maps, sets and bytes.
  if ("then" in value && typeof value.then === "function") return true;
  return Symbol.iterator in value || Symbol.asyncIterator in value;
}

/** Whether a class instance would be empty as JSON. */
function isEmptied(value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return !isPlain(value) && Object.keys(value).length === 0;
}

/** A plain object, of any realm. */
export function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function kindOf(value: unknown): string {
  if (value === null) return "null";
  return (typeof value === "object" && value.constructor?.name) || typeof value;
}
