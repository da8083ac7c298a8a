/** What is there as a whole and can be read again; undefined for all else. */
export function bytesAsBlob(content: unknown): Blob | undefined {
  if (content instanceof Blob) return content;
  const isBytes = content instanceof ArrayBuffer || ArrayBuffer.isView(content);
  return isBytes ? new Blob([content as Uint8Array<ArrayBuffer>]) : undefined;
}

/** A list or an object as JSON. What JSON would make nothing of is refused: it would be paid for, and be something else. */
export function jsonOrRefusal(field: string, value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, told: unknown) {
    // `told` is what the value itself says to be in JSON, as bytes do: a list of numbers.
    if (isLostInJson(this[name])) throw new TypeError(refusalOf(field, value, this[name]));
    return told;
  });
}

function refusalOf(field: string, whole: unknown, part: unknown): string {
  const what = `${kindOf(part)}${whole === part ? "" : " within a list or an object"}`;
  const taken = "texts, numbers, booleans, lists and plain objects of them, or a Blob or bytes as a file";
  return `What the field ${field} holds cannot be sent (${what}): a field takes ${taken}`;
}

function isLostInJson(value: unknown): boolean {
  if (typeof value === "function" || typeof value === "symbol" || typeof value === "bigint") return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  // Promises, and what is read piece by piece: streams, maps, sets, bytes.
  if ("then" in value && typeof value.then === "function") return true;
  if (Symbol.iterator in value || Symbol.asyncIterator in value) return true;
  return !isPlain(value) && !("toJSON" in value) && Object.keys(value).length === 0;
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
