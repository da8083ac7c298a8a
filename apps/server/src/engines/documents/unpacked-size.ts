import { inflateRawSync } from "node:zlib";
import { DocumentError } from "./documents.ts";

const tooLarge = () => new DocumentError("unreadable", "The Word document is too large when it is unpacked.");
const damaged = () => new DocumentError("unreadable", "The Word document is damaged.");

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endBytes = 22;
const longestComment = 65_535;
const mostEntries = 10_000;

/**
 * Unpacks every entry of a ZIP archive except pictures, and forgets it: the sizes that an archive states may be wrong.
 * Rejects an archive that unpacks to more than `most` bytes.
 */
export function checkUnpackedSize(zip: Buffer, most: number): void {
  let left = most;
  for (const { name, method, packed } of entriesOf(zip)) {
    if (/^word\/(?:media|embeddings|fonts)\//.test(name)) continue;
    left -= method === 0 ? packed.length : unpackedLength(packed, left);
    if (left < 0) throw tooLarge();
  }
}

function unpackedLength(packed: Buffer, most: number): number {
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(1, most) }).length;
  } catch (error) {
    throw (error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE" ? tooLarge() : damaged();
  }
}

function entriesOf(zip: Buffer): { name: string; method: number; packed: Buffer }[] {
  try {
    const end = zip.lastIndexOf(Buffer.from("PK\x05\x06"));
    if (end < zip.length - endBytes - longestComment || zip.readUInt32LE(end) !== endMark) throw damaged();
    const count = zip.readUInt16LE(end + 10);
    if (count > mostEntries) throw tooLarge();
    const entries = [];
    let at = zip.readUInt32LE(end + 16);
    for (let n = 0; n < count; n++) {
      if (zip.readUInt32LE(at) !== entryMark) throw damaged();
      const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => zip.readUInt16LE(at + field)) as [
        number,
        number,
        number,
      ];
      const start = zip.readUInt32LE(at + 42);
      // The local header repeats the name, with an extra field of another length.
      const content = start + 30 + zip.readUInt16LE(start + 26) + zip.readUInt16LE(start + 28);
      entries.push({
        name: zip.toString("utf8", at + 46, at + 46 + nameLength),
        method: zip.readUInt16LE(at + 10),
        packed: zip.subarray(content, content + zip.readUInt32LE(at + 20)),
      });
      at += 46 + nameLength + extraLength + commentLength;
    }
    return entries;
  } catch (error) {
    throw error instanceof DocumentError ? error : damaged();
  }
}
