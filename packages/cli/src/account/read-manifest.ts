import type { ExportManifest } from "@gantry/sdk";

const block = 512;
/** The manifest names the files of all lists. */
const mostManifestBytes = 64 * 1024 * 1024;

/** The manifest at the end of an unpacked export. Undefined if the archive was cut. */
export async function readManifest(archive: AsyncIterable<Buffer>): Promise<ExportManifest | undefined> {
  const { take, skip } = readerOf(archive);
  let manifest: ExportManifest | undefined;
  for (let largeSize: number | undefined; ; ) {
    const head = await take(block);
    if (head === undefined) return undefined;
    if (head.every((byte) => byte === 0)) return manifest;
    const text = (from: number, to: number) => head.toString("utf8", from, to).split("\0", 1)[0] ?? "";
    const size = largeSize ?? Number.parseInt(text(124, 136), 8);
    largeSize = undefined;
    const padded = Math.ceil(size / block) * block;
    if (text(156, 157) === "x") {
      const records = (await take(padded))?.toString() ?? "";
      const [, given] = /^\d+ size=(\d+)$/m.exec(records) ?? [];
      largeSize = given === undefined ? undefined : Number(given);
    } else if (text(0, 100) === "manifest.json" && size <= mostManifestBytes) {
      const content = await take(padded);
      manifest = content && JSON.parse(content.toString("utf8", 0, size));
    } else if (!(await skip(padded))) return undefined;
  }
}

function readerOf(archive: AsyncIterable<Buffer>) {
  const chunks = archive[Symbol.asyncIterator]();
  let held: Buffer = Buffer.alloc(0);

  async function fill(): Promise<boolean> {
    const { value, done } = await chunks.next();
    if (done) return false;
    held = value;
    return true;
  }

  return {
    /** Undefined past the end. */
    async take(count: number): Promise<Buffer | undefined> {
      const parts: Buffer[] = [];
      for (let left = count; left > 0; ) {
        if (held.length === 0 && !(await fill())) return undefined;
        const part = held.subarray(0, left);
        held = held.subarray(part.length);
        left -= part.length;
        parts.push(part);
      }
      return Buffer.concat(parts);
    },
    /** False past the end. */
    async skip(count: number): Promise<boolean> {
      for (let left = count; left > 0; ) {
        if (held.length === 0 && !(await fill())) return false;
        const skipped = Math.min(left, held.length);
        held = held.subarray(skipped);
        left -= skipped;
      }
      return true;
    },
  };
}
