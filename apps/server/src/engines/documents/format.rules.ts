import type { DocumentFormat, DocumentName } from "./documents.ts";

interface Unsupported {
  reason: string;
}

const zipMark = [0x50, 0x4b, 0x03, 0x04];
const oleMark = [0xd0, 0xcf, 0x11, 0xe0];

export function formatOf(bytes: Uint8Array, { name = "", type = "" }: DocumentName): DocumentFormat | Unsupported {
  // A PDF may begin with some other bytes.
  if (Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).includes("%PDF-")) return "pdf";
  if (startsWith(bytes, zipMark))
    return isWord(bytes)
      ? "docx"
      : { reason: "Archives and spreadsheets have no text to read. Convert the file to PDF, Word or CSV." };
  if (startsWith(bytes, oleMark))
    return { reason: "Documents of old Word versions are not read. Save the file as .docx." };
  if (!isText(bytes)) return { reason: "The file has no text." };
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const media = type.split(";")[0]?.trim().toLowerCase() ?? "";
  if (["html", "htm", "xhtml"].includes(extension)) return "html";
  if (["md", "markdown", "mdx"].includes(extension)) return "markdown";
  const isDeclaredHtml = media === "text/html" || media === "application/xhtml+xml";
  if ((isDeclaredHtml || extension === "") && beginsAsHtml(bytes)) return "html";
  if (isDeclaredHtml && extension === "") return "html";
  if (media === "text/markdown") return "markdown";
  return "text";
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, at) => bytes[at] === byte);
}

function isWord(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes("word/document");
}

function beginsAsHtml(bytes: Uint8Array): boolean {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1024)).toString("latin1");
  let rest = head.replace(/^\xef\xbb\xbf/, "").trimStart();
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->", 4);
    if (end === -1) return false;
    rest = rest.slice(end + 3).trimStart();
  }
  return /^<(?:!doctype html|html|head|body)\b/i.test(rest);
}

/** Control characters other than white space and escape do not appear in text. */
function isText(bytes: Uint8Array): boolean {
  const head = bytes.subarray(0, 65_536);
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true;
  return !head.some((byte) => byte < 0x20 && (byte < 0x08 || (byte > 0x0d && byte !== 0x1b)));
}
