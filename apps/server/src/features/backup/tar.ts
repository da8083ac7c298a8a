import { createHash } from "node:crypto";
import type { Readable } from "node:stream";

/** Plain tar (ustar), readable with any tool. The length of each entry is known in advance. */
const block = 512;
/** Largest length in eleven octal digits; files of Gantry are smaller. */
const mostBytes = 8 ** 11 - 1;

export interface TarWriter {
  file(name: string, content: Uint8Array): Promise<void>;
  stream(name: string, size: number, content: Readable): Promise<void>;
  end(): Promise<void>;
}

export function createTarWriter(write: (bytes: Uint8Array) => Promise<void>): TarWriter {
  const pad = (size: number) => write(Buffer.alloc((block - (size % block)) % block));
  return {
    async file(name, content) {
      await write(header(name, content.length));
      await write(content);
      await pad(content.length);
    },
    async stream(name, size, content) {
      await write(header(name, size));
      let written = 0;
      for await (const chunk of content) {
        written += chunk.length;
        await write(chunk);
      }
      if (written !== size) throw new Error(`${name} was ${written} bytes long instead of ${size}`);
      await pad(size);
    },
    end: () => write(Buffer.alloc(2 * block)),
  };
}

function header(name: string, size: number): Buffer {
  if (Buffer.byteLength(name) > 100 || size > mostBytes) throw new Error(`${name} does not fit into the archive`);
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number) => bytes.write(value.toString(8).padStart(digits, "0"), at);
  bytes.write(name, 0);
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  octal(size, 124, 11);
  octal(Math.floor(Date.now() / 1000), 136, 11);
  bytes.write(" ".repeat(8), 148);
  bytes.write("0", 156);
  bytes.write("ustar\u000000", 257, "latin1");
  octal(sumOf(bytes), 148, 6);
  bytes.write("\0 ", 154, "latin1");
  return bytes;
}

const sumOf = (bytes: Buffer): number => bytes.reduce((sum, byte) => sum + byte, 0);

export interface TarEntry {
  name: string;
  size: number;
  /** Of all bytes before this entry. */
  sha256Before(): string;
  /** Read or skip it before the next entry. */
  body: AsyncIterable<Uint8Array>;
}

export async function* readTar(archive: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const source = archive[Symbol.asyncIterator]();
  let held: Uint8Array = new Uint8Array();
  let position = 0;
  const hash = createHash("sha256");

  async function* take(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      if (held.length === 0) {
        const { value, done } = await source.next();
        if (done) throw new Error("The archive ends too early");
        held = value;
        continue;
      }
      const part = held.subarray(0, left);
      held = held.subarray(part.length);
      left -= part.length;
      position += part.length;
      hash.update(part);
      yield part;
    }
  }

  for (;;) {
    const at = position;
    const before = hash.copy();
    const head = Buffer.concat(await Array.fromAsync(take(block)));
    if (head.every((byte) => byte === 0)) return;
    const { name, size } = readHeader(head);
    const end = at + block + size + ((block - (size % block)) % block);
    yield { name, size, sha256Before: () => before.digest("hex"), body: take(size) };
    for await (const _ of take(end - position));
  }
}

function readHeader(head: Buffer): { name: string; size: number } {
  const text = (from: number, to: number) => (head.toString("utf8", from, to).split("\0", 1)[0] ?? "").trim();
  const expected = Number.parseInt(text(148, 156), 8);
  const plain = Buffer.from(head);
  plain.fill(" ", 148, 156);
  if (sumOf(plain) !== expected) throw new Error("This is not an archive, or it is damaged");
  return { name: text(0, 100), size: Number.parseInt(text(124, 136), 8) };
}
