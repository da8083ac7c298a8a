import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { bytesOf } from "./backend.contract.ts";
import { readJsonAnswer } from "./json-answer.ts";
import { Spool } from "./spool.ts";

let spoolFolder: string;
beforeEach(async () => {
  spoolFolder = await mkdtemp(join(tmpdir(), "gantry-spool-"));
});
afterEach(async () => {
  expect(await readdir(spoolFolder)).toEqual([]);
  await rm(spoolFolder, { recursive: true });
});

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const read = (
  text: string,
  more: { size?: number; bare?: boolean; maxFileBytes?: number; maxTextBytes?: number } = {},
) =>
  readJsonAnswer(inPieces(text, more.size ?? 1000), {
    spoolFolder,
    maxTextBytes: more.maxTextBytes ?? 1_000_000,
    maxFileBytes: more.maxFileBytes ?? 10_000_000,
    bareBase64: more.bare ?? true,
  });

const file = Buffer.alloc(2_000_003, "some bytes/");
const base64 = file.toString("base64");

it("reads plain JSON in chunks of any size", async () => {
  const value = { 'a"\\': ['\\"x"', "é€😀\u0000", 1, null, true], b: { c: "\\" }, d: "" };
  for (const size of [1, 2, 3, 7, 1000]) {
    expect((await read(JSON.stringify(value), { size })).value).toEqual(value);
  }
});

it.each([1, 7, 4096, 65_537])("takes files out of the JSON, in chunks of %i", async (size) => {
  const small = size < 1000 ? file.subarray(0, 40_000) : file;
  const text = JSON.stringify({
    a: small.toString("base64"),
    b: ["short", `data:image/png;base64,${small.toString("base64")}`],
  });
  const { value } = await read(text.replaceAll("/", "\\/"), { size });
  const { a, b } = value as { a: Spool; b: [string, Spool] };
  expect(a).toBeInstanceOf(Spool);
  expect(b[0]).toBe("short");
  expect(b[1].mediaType).toBe("image/png");
  for (const spool of [a, b[1]]) {
    expect(spool.size).toBe(small.length);
    expect((await bytesOf({ body: spool.body() })).equals(small)).toBe(true);
  }
});

it("leaves long texts that are not files alone", async () => {
  const prose = "word ".repeat(20_000);
  expect((await read(JSON.stringify([prose]))).value).toSatisfy((value: string[]) => value[0] === prose);
  const bare = "A".repeat(40_000);
  const left = await read(JSON.stringify([bare]), { bare: false });
  expect(left.value).toSatisfy((value: string[]) => value[0] === bare);
});

it("is not fooled by texts that look like its placeholders", async () => {
  const value = { a: "file-0", b: `file-${"0".repeat(36)}-0` };
  expect((await read(JSON.stringify(value))).value).toEqual(value);
});

it.each([
  ["too much text", `["${"word ".repeat(30_000)}"]`, { maxTextBytes: 100_000 }],
  ["too large a file", `["${base64}"]`, { maxFileBytes: 1_500_000 }],
  ["a file that is cut by the end", `["${base64}`, {}],
  ["a file cut within a group", `["${base64.slice(0, -2)}"]`, {}],
  ["no JSON", "<html></html>", {}],
  ["JSON that ends early", '{"a": "b"', {}],
])("refuses %s and leaves nothing behind", async (_name, text, limits) => {
  await expect(read(text, limits)).rejects.toThrow();
});

it("keeps the first files of a long list in memory, and the others on the disk", async () => {
  const small = Buffer.alloc(40_000, 7);
  const answer = await read(JSON.stringify(Array.from({ length: 12 }, () => small.toString("base64"))));
  const bodies = (answer.value as Spool[]).map((spool) => spool.body());
  expect(bodies.map((body) => body instanceof Uint8Array)).toEqual([...Array(8).fill(true), ...Array(4).fill(false)]);
  for (const body of bodies) expect((await bytesOf({ body })).equals(small)).toBe(true);
  await answer.discard();
});

it("refuses more files than any list has", async () => {
  const many = Array.from({ length: 129 }, () => Buffer.alloc(30_000, 7).toString("base64"));
  await expect(read(JSON.stringify(many))).rejects.toThrow("more than 128 files");
});

it("drops files whose body was not taken", async () => {
  const answer = await read(JSON.stringify([base64, base64]));
  const [first, second] = answer.value as [Spool, Spool];
  const body = first.body();
  await answer.discard();
  expect((await bytesOf({ body })).equals(file)).toBe(true);
  expect(await bytesOf({ body: second.body() })).toHaveLength(0);
});
