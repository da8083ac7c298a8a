import { createHash } from "node:crypto";

/**
 * Tar as any tool reads it: ustar, with a pax header for what ustar cannot hold. The length of each entry is known in
 * advance.
 */
const block = 512;
/** Largest length in eleven octal digits. */
const mostBytes = 8 ** 11 - 1;
const mostNameBytes = 100;
/** Bounds what a damaged archive can make a reader buffer. */
const mostPaxBytes = 64 * 1024;

export interface TarWriter {
  file(name: string, content: Uint8Array): Promise<void>;
  stream(name: string, size: number, content: AsyncIterable<Uint8Array>): Promise<void>;
  end(): Promise<void>;
}

export function createTarWriter(write: (bytes: Uint8Array) => Promise<void>): TarWriter {
  const pad = (size: number) => write(Buffer.alloc((block - (size % block)) % block));
  const begin = async (name: string, size: number) => {
    const pax = paxRecords(name, size);
    if (pax.length > 0) {
      await write(header("pax", pax.length, "x"));
      await write(pax);
      await pad(pax.length);
    }
    await write(header(name, size, "0"));
  };
  return {
    async file(name, content) {
      await begin(name, content.length);
      await write(content);
      await pad(content.length);
    },
    async stream(name, size, content) {
      await begin(name, size);
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

/** What the header of an entry cannot hold. */
function paxRecords(name: string, size: number): Buffer {
  const isPlain = Buffer.byteLength(name) <= mostNameBytes && /^[\x20-\x7e]*$/.test(name);
  return Buffer.concat([
    ...(isPlain ? [] : [paxRecord("path", name)]),
    ...(size <= mostBytes ? [] : [paxRecord("size", String(size))]),
  ]);
}

/** Begins with its own length, which includes the digits of that length. */
function paxRecord(key: string, value: string): Buffer {
  const rest = Buffer.from(` ${key}=${value}\n`);
  let length = rest.length;
  while (length !== rest.length + String(length).length) length = rest.length + String(length).length;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

function header(name: string, size: number, type: "0" | "x"): Buffer {
  const bytes = Buffer.alloc(block);
  const octal = (value: number, at: number, digits: number) => bytes.write(value.toString(8).padStart(digits, "0"), at);
  Buffer.from(name).copy(bytes, 0, 0, mostNameBytes);
  octal(0o600, 100, 7);
  octal(0, 108, 7);
  octal(0, 116, 7);
  // A pax header overrules it.
  octal(Math.min(size, mostBytes), 124, 11);
  octal(Math.floor(Date.now() / 1000), 136, 11);
  bytes.write(" ".repeat(8), 148);
  bytes.write(type, 156);
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

  for (let overruling: Partial<TarHeader> = {}; ; ) {
    const before = hash.copy();
    const head = Buffer.concat(await Array.fromAsync(take(block)));
    if (head.every((byte) => byte === 0)) return;
    const { type, ...plain } = readHeader(head);
    const { name, size } = { ...plain, ...overruling };
    const end = position + size + ((block - (size % block)) % block);
    if (type === "x") {
      if (size > mostPaxBytes) throw new Error("This is not an archive, or it is damaged");
      overruling = readPax(Buffer.concat(await Array.fromAsync(take(size))));
    } else {
      overruling = {};
      yield { name, size, sha256Before: () => before.digest("hex"), body: take(size) };
    }
    for await (const _ of take(end - position));
  }
}

interface TarHeader {
  name: string;
  size: number;
}

function readPax(records: Buffer): Partial<TarHeader> {
  const found: Partial<TarHeader> = {};
  for (let at = 0; at < records.length; ) {
    const length = Number.parseInt(records.toString("latin1", at, at + 12), 10);
    if (!(length > 0)) throw new Error("This is not an archive, or it is damaged");
    const [, key, value = ""] = /^\d+ ([^=]+)=(.*)\n$/s.exec(records.toString("utf8", at, at + length)) ?? [];
    if (key === "path") found.name = value;
    if (key === "size") found.size = Number(value);
    at += length;
  }
  return found;
}

function readHeader(head: Buffer): TarHeader & { type: string } {
  const text = (from: number, to: number) => (head.toString("utf8", from, to).split("\0", 1)[0] ?? "").trim();
  const expected = Number.parseInt(text(148, 156), 8);
  const plain = Buffer.from(head);
  plain.fill(" ", 148, 156);
  if (sumOf(plain) !== expected) throw new Error("This is not an archive, or it is damaged");
  return { name: text(0, mostNameBytes), size: Number.parseInt(text(124, 136), 8), type: text(156, 157) };
}
