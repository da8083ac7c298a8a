import type { MultipartLimits } from "./form.ts";
import { parseHeaderValue } from "./header-value.ts";

export interface PartHeaders {
  name: string;
  /** Without directories. Undefined if not given; empty for an empty file input. */
  filename: string | undefined;
  contentType: string;
  charset: string | undefined;
  isFile: boolean;
}

/** The header of nearly every text field, up to its name. */
const plainField = '\r\nContent-Disposition: form-data; name="';
const notPlain = /["\\\r\n\0]/;
/** A part without a file name is a file only if its type is not text: several clients send a type with every text. */
const bytesType = /^(image|video|audio)\/|^application\/octet-stream$/;
const encodings = new Set(["7bit", "8bit", "binary"]);

/**
 * `text` begins with the CRLF after the boundary and ends before the empty line. Returns a string if it is malformed.
 */
export function parsePartHeaders(text: string, limits: MultipartLimits): PartHeaders | string {
  if (text.startsWith(plainField) && text.endsWith('"')) {
    const name = text.slice(plainField.length, -1);
    if (name !== "" && name.length <= limits.maxNameLength && !notPlain.test(name)) {
      return { name, filename: undefined, contentType: "text/plain", charset: undefined, isFile: false };
    }
  }
  const headers = splitHeaders(text);
  if (typeof headers === "string") return headers;
  const disposition = parseHeaderValue(headers.get("content-disposition") ?? "");
  if (disposition?.value !== "form-data") return "a part has no valid Content-Disposition header";
  const name = disposition.params.get("name");
  if (!name) return "a part has no name";
  if (name.length > limits.maxNameLength) return `a part's name is longer than ${limits.maxNameLength} characters`;
  if ([...disposition.params.values()].some((value) => value.includes("\0"))) return "a part has a malformed header";
  const encoding = headers.get("content-transfer-encoding")?.trim().toLowerCase() ?? "binary";
  if (!encodings.has(encoding)) return "a part has a Content-Transfer-Encoding, which forms do not use";
  const type = parseHeaderValue(headers.get("content-type") ?? "text/plain");
  if (!type) return "a part has no valid Content-Type header";
  const filename = disposition.params.get("filename*") ?? disposition.params.get("filename");
  return {
    name,
    // One character more than allowed, in UTF-16 units, so that storing it fails with "too long".
    filename: filename?.replace(/^.*[/\\]/, "").slice(0, 512),
    contentType: type.value,
    charset: type.params.get("charset")?.toLowerCase(),
    isFile: filename !== undefined || bytesType.test(type.value),
  };
}

function splitHeaders(block: string): Map<string, string> | string {
  const headers = new Map<string, string>();
  // A line that begins with a blank continues the previous one.
  for (const line of block
    .slice(2)
    .replace(/\r\n[ \t]+/g, " ")
    .split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0 || /[\r\n\0]/.test(line)) return "a part has a malformed header";
    const name = line.slice(0, colon).toLowerCase();
    if (headers.has(name)) return `a part has the header ${name.slice(0, 40)} twice`;
    headers.set(name, line.slice(colon + 1).trim());
  }
  return headers;
}
