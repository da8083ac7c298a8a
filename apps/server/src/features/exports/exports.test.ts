import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readTar } from "../../kernel/tar.ts";
import type { Caller } from "../accounts/index.ts";
import { everyEntry } from "./every-entry.ts";
import type { ExportPart } from "./part.ts";
import { safePath } from "./safe-path.rules.ts";
import { writeArchive } from "./write-archive.ts";

test.each([
  [["a", "b.txt"], "a/b.txt"],
  [["..", ".", ""], "%2E%2E/%2E/%"],
  [["/etc/passwd", "a\\b"], "%2Fetc%2Fpasswd/a%5Cb"],
  [["a\nb\u0000\u202egpj"], "a%0Ab%00%E2%80%AEgpj"],
  [["100%.txt", "100%25.txt"], "100%25.txt/100%2525.txt"],
  [["CON", "con.txt", "console", "~home", "-rf", "end."], "%43ON/%63on.txt/console/%7Ehome/%2Drf/end%2E"],
  [["Ünïcode 漢字"], "Ünïcode 漢字"],
])("the path of %j is safe", (segments, path) => {
  expect(safePath(segments)).toBe(path);
});

test("long names are cut, and stay different", () => {
  const [one, two] = ["a", "b"].map((last) => safePath([`${"漢".repeat(100)}${last}.txt`]));
  expect(one).not.toBe(two);
  for (const path of [one, two]) {
    expect(Buffer.byteLength(path ?? "")).toBeLessThanOrEqual(200);
    expect(path).toMatch(/^漢+~[0-9a-f]{16}\.txt$/);
  }
});

test("a list that changes while it is read loses nothing and repeats nothing", async () => {
  let entries = Array.from({ length: 1000 }, (_, n) => `entry ${n}`);
  const first = [...entries];
  let reads = 0;
  const read = async ({ limit, offset }: { limit: number; offset: number }) => {
    reads += 1;
    if (reads === 3) entries = entries.slice(30);
    if (reads === 6) entries = [...Array.from({ length: 40 }, (_, n) => `new ${n}`), ...entries];
    return { entries: entries.slice(offset, offset + limit), total: entries.length };
  };
  expect(await Array.fromAsync(everyEntry(read, (entry) => entry))).toEqual(first);
});

test("long lists continue in further files, and damaged files are padded and listed", async () => {
  const record = { text: "x".repeat(1_500_000) };
  async function* broken() {
    yield Buffer.from("half");
    throw new Error("the disk is damaged");
  }
  const part: ExportPart = {
    lists: { things: "Things.", empty: "None." },
    async *read() {
      for (let n = 0; n < 5; n++) yield { list: "things", record: { n, ...record } };
      yield { path: ["files", "half"], open: async () => ({ size: 100_000, body: Readable.from(broken()) }) };
      yield { path: ["files", "gone"], open: async () => undefined };
    },
  };
  const chunks: Uint8Array[] = [];
  const reader = { check: () => undefined, write: async (bytes: Uint8Array) => void chunks.push(Buffer.from(bytes)) };
  const caller = { userId: "usr_1", username: "ann", team: null } as Caller;
  await writeArchive({ parts: [part], subject: { caller, personId: "usr_1", base: "", withFiles: true }, reader });
  const files = new Map<string, string>();
  for await (const { name, body } of readTar(Readable.from(chunks))) {
    files.set(name, Buffer.concat(await Array.fromAsync(body)).toString());
  }
  expect([...files.keys()]).toEqual([
    ...["README.txt", "things.jsonl", "things.0002.jsonl", "files/half", "things.0003.jsonl", "empty.jsonl"],
    ...["missing.jsonl", "manifest.json"],
  ]);
  expect(files.get("files/half")).toBe(`half${"\0".repeat(99_996)}`);
  expect(
    files
      .get("missing.jsonl")
      ?.trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    { path: "files/half", reason: "unreadable" },
    { path: "files/gone", reason: "deleted" },
  ]);
  const manifest = JSON.parse(files.get("manifest.json") ?? "");
  expect(manifest).toMatchObject({
    lists: { things: { records: 5 }, empty: { records: 0, files: ["empty.jsonl"] } },
    contents: { files: 1, bytes: 100_000, missing: 2 },
    complete: true,
  });
});
