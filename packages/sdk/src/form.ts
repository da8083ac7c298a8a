import { bytesAsBlob, isPlain, kindOf, textOrRefusal } from "./field-content.ts";
import { headerValue } from "./header-value.ts";

/** Values that JSON can express. Undefined fields are omitted; dates are sent as ISO 8601. */
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
 * A value of an input field. Lists and objects are sent as JSON, bytes as a file, a URL as text. A list with bytes is a
 * list of files, whose texts are addresses. Null and undefined are omitted, which means the default. Streams, promises,
 * NaN and invalid dates throw a TypeError.
 */
export type InputField = JsonValue | FileContent | readonly (FileContent | string | URL)[];

type FileContent = Blob | ArrayBuffer | ArrayBufferView;

export type Input = Readonly<Record<string, InputField>>;

/** The form of an input and of parts that are not fields of the model. A name may be in one of them only. */
export function inputForm(input: Input, parts: Readonly<Record<string, unknown>> = {}): Blob {
  // A promise, map or list would be sent without fields, and the call would be charged anyway.
  if (!isPlain(input)) {
    const what = "use a plain object with the fields by name";
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
 * A form as one Blob, which can be sent again and reads files while sending. FormData would change every line break of
 * a text to CRLF.
 */
export function formOf(input: Readonly<Record<string, unknown>>): Blob {
  const boundary = newBoundary();
  const parts: (string | Blob)[] = [];
  for (const [name, value] of Object.entries(input).flatMap(entriesOf)) {
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

/** A list of files is sent as one part for each file. */
function entriesOf([name, value]: [string, unknown]): [string, NonNullable<unknown>][] {
  if (!isGiven(value)) return [];
  const isFileList = Array.isArray(value) && value.some((each) => bytesAsBlob(each) !== undefined);
  return isFileList ? value.filter(isGiven).map((each) => [name, each]) : [[name, value]];
}

/** The parts of a form around the bytes of a streamed file. */
export interface Frame {
  /** The content type of the whole body, if known. */
  type: string | undefined;
  before: string;
  after: string;
}

/** A form with texts followed by one file. */
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
  /** Empty if unknown. */
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

/** Escapes as browsers do, and also the backslash, which at the end would escape the quote. */
function escaped(text: string): string {
  const inQuotes = text.replaceAll("\\", "\\\\").replaceAll('"', "%22");
  return inQuotes.replaceAll("\r", "%0D").replaceAll("\n", "%0A").toWellFormed();
}

/** 128 random bits. Browsers have randomUUID only on https. */
export function randomText(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
