import { createHash } from "node:crypto";

/** Most file systems allow 255 bytes for one name. */
const mostSegmentBytes = 200;

/**
 * The path of a content in the archive. Users chose its segments, and other people unpack it: no segment is empty, `.` or
 * `..`, or has a separator, a control character or a character that a common file system refuses. Those characters are
 * percent-encoded, so different paths stay different.
 */
export function safePath(segments: readonly string[]): string {
  return segments.map(safeSegment).join("/");
}

function safeSegment(name: string): string {
  const safe = name
    .toWellFormed()
    // Bidirectional controls could show another ending of the name.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}%/\\:*?"<>|]/gu, encoded)
    .replace(/^[ .~-]|[ .]$/g, encoded)
    .replace(/^(?:con|prn|aux|nul|com\d|lpt\d)(?=\.|$)/i, (device) => encoded(device.charAt(0)) + device.slice(1));
  return shortened(safe === "" ? "%" : safe);
}

function encoded(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`).join("");
}

/** Keeps the ending, and a hash of what was cut. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= mostSegmentBytes) return name;
  const ending = /\.[\w-]{1,16}$/.exec(name)?.[0] ?? "";
  const hash = createHash("sha256").update(name).digest("hex").slice(0, 16);
  let head = "";
  for (const character of name) {
    if (Buffer.byteLength(head + character) > mostSegmentBytes - ending.length - hash.length - 1) break;
    head += character;
  }
  return `${head}~${hash}${ending}`;
}
