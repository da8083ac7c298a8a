import { bytesAsBlob, isPlain, kindOf, textOrRefusal } from "./field-content.ts";
import { headerValue } from "./header-value.ts";

/** What JSON can carry. A field of an object that is undefined is left out; a date is sent as ISO 8601. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | Date
  | URL
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

/**
 * A value of an input field. Lists and objects are sent as JSON, bytes as a file, an address as its text. Null and
 * undefined are left out, which means the field's default. What can be read only once, or later, or would arrive as
 * something else, is refused as a TypeError: a stream, a promise, NaN, an invalid date.
 */
export type InputField = JsonValue | Blob | ArrayBuffer | ArrayBufferView;

export type Input = Readonly<Record<string, InputField>>;

/** The form of an input and of the parts that are no field of the model. Each may stand in either, but not in both. */
export function inputForm(input: Input, parts: Readonly<Record<string, unknown>> = {}): Blob {
  // A promise, a map or a list would be a form without its fields: it would be paid for all the same.
  if (!isPlain(input)) {
    const what = "it is a plain object that has the fields by name";
    throw new TypeError(`The input cannot be sent (${kindOf(input)}): ${what}`);
  }
  const given = Object.entries(parts).filter(([, part]) => isGiven(part));
  const twice = given.find(([name]) => isGiven(input[name]));
  if (twice) throw new TypeError(`${twice[0]} is given twice: in the input and in the options`);
  return formOf({ ...input, ...Object.fromEntries(given) });
}

function isGiven<T>(value: T): value is NonNullable<T> {
  return value !== null && value !== undefined;
}

/**
 * A form as one Blob, which can be sent again and whose files are read only as they are sent. It is not FormData because
 * that writes every line break of a text as CRLF, and a prompt has to arrive as it was given.
 */
export function formOf(input: Readonly<Record<string, unknown>>): Blob {
  const boundary = newBoundary();
  const parts: (string | Blob)[] = [];
  for (const [name, value] of Object.entries(input)) {
    if (!isGiven(value)) continue;
    const part = bytesAsBlob(value) ?? textOrRefusal(name, value);
    if (typeof part === "string") parts.push(headOf(boundary, name), part.toWellFormed());
    else {
      const filename = part instanceof File ? part.name : name;
      parts.push(headOf(boundary, name, { filename, type: part.type }), part);
    }
    parts.push("\r\n");
  }
  parts.push(endOf(boundary));
  return new Blob(parts, { type: typeOf(boundary) });
}

/** What stands around the bytes of a file in a form, for bytes that are not known before they are sent. */
export interface Frame {
  /** The content type of the whole; nothing where it is not known. */
  type: string | undefined;
  before: string;
  after: string;
}

/** A form with texts and, behind them, one file. */
export function formAround(texts: Readonly<Record<string, string>>, name: string, file: FilePart): Frame {
  const boundary = newBoundary();
  const fields = Object.entries(texts).map(([field, text]) => `${headOf(boundary, field)}${text.toWellFormed()}\r\n`);
  return {
    type: typeOf(boundary),
    before: fields.join("") + headOf(boundary, name, file),
    after: `\r\n${endOf(boundary)}`,
  };
}

interface FilePart {
  filename: string;
  /** Empty where it is not known. */
  type: string;
}

function headOf(boundary: string, name: string, file?: FilePart): string {
  const disposition = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"`;
  if (!file) return `${disposition}\r\n\r\n`;
  const type = headerValue("content-type", file.type) || "application/octet-stream";
  return `${disposition}; filename="${escaped(file.filename)}"\r\nContent-Type: ${type}\r\n\r\n`;
}

const newBoundary = () => `gantry-${randomText()}`;
const endOf = (boundary: string) => `--${boundary}--\r\n`;
const typeOf = (boundary: string) => `multipart/form-data; boundary=${boundary}`;

/** As browsers do it, but for the backslash, which they leave as it is: at the end it would escape the quote. */
function escaped(text: string): string {
  const inQuotes = text.replaceAll("\\", "\\\\").replaceAll('"', "%22");
  return inQuotes.replaceAll("\r", "%0D").replaceAll("\n", "%0A").toWellFormed();
}

/** 128 random bits. Not randomUUID, which browsers have on https alone. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
