import { readFileSync } from "node:fs";
import { deflateSync } from "node:zlib";
import { afterAll, expect, test } from "vitest";
import { docxOf, packedSpaces, pdfOf, zipOf } from "../../../test/support/sample-documents.ts";
import { createDocuments } from "./create-documents.ts";
import type { DocumentName } from "./documents.ts";

const documents = createDocuments({ maxMs: 20_000 });
afterAll(() => documents.close());

const read = (bytes: string | Uint8Array, named: DocumentName = {}) => documents.read(Buffer.from(bytes), named);
const textOf = async (bytes: string | Uint8Array, named: DocumentName = {}) =>
  (await read(bytes, named)).pages.map(({ text }) => text).join("\n");

test("reads the pages of a PDF, by its bytes and not its name", async () => {
  const document = await read(pdfOf([["First page", "second line"], ["Page two (of 2)"]]), { name: "a.txt" });
  expect(document).toMatchObject({ format: "pdf", isCut: false });
  expect(document.pages).toEqual([
    { page: 1, text: expect.stringMatching(/^First page\nsecond line\n?$/) },
    { page: 2, text: expect.stringMatching(/^Page two \(of 2\)\n?$/) },
  ]);
});

test("reads Word as Markdown", async () => {
  const document = await read(docxOf(["# Travel costs", "Trains are paid in full."]), { name: "b.docx" });
  expect(document).toMatchObject({ format: "docx", pages: [{ text: "# Travel costs\n\nTrains are paid in full." }] });
});

test("reads HTML as Markdown, without active content", async () => {
  const html = `<html><head><title>A &amp; B</title><style>p{}</style></head><body><h2>Head</h2><script>alert(1)</script>
    <p>One <a href="javascript:x()">bad</a> <a href="https://a.example/x">good</a></p>
    <table><tr><th>City</th><th>Cost</th></tr><tr><td>Oslo</td><td>12</td></tr></table></body></html>`;
  const { title, format, pages } = await read(html, { name: "page.html" });
  expect({ title, format }).toEqual({ title: "A & B", format: "html" });
  expect(pages[0]?.text).toBe("## Head\n\nOne bad [good](https://a.example/x)\n\n| City | Cost |\n| Oslo | 12 |");
});

test("keeps the main text of a web page and makes its links absolute", async () => {
  const story = "<p>A long sentence about lighthouses, their keepers, and a <a href='/oil'>lamp</a>.</p>".repeat(12);
  const html = `<html><head><title>Story</title></head><body><nav><a href="/">Home</a> Menu</nav><article><h1>Story</h1>${story}</article><footer>Imprint</footer></body></html>`;
  const text = await textOf(html, { url: "https://news.example/a/b", type: "text/html" });
  expect(text).toContain("[lamp](https://news.example/oil)");
  expect(text).not.toContain("Imprint");
});

test("reads text in other charsets, and removes what PostgreSQL cannot store", async () => {
  expect(await textOf(Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65]))).toBe("Grüße");
  expect(await textOf(Buffer.from("\ufeffHallo", "utf16le"))).toBe("Hallo");
  expect(await textOf(Buffer.from([0xcf, 0xf0, 0xe8]), { type: "text/plain; charset=windows-1251" })).toBe("При");
  expect(await textOf("a\r\nb\rc")).toBe("a\nb\nc");
});

test("refuses what has no text, and what is damaged", async () => {
  const refused = (bytes: string | Uint8Array, named?: DocumentName) =>
    read(bytes, named).then(
      () => "read",
      (error: { kind: string; message: string }) => `${error.kind}: ${error.message}`,
    );
  expect(await refused(Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2]))).toBe("unsupported: The file has no text.");
  expect(await refused(zipOf({ "a.txt": "x" }))).toMatch(/^unsupported: Archives/);
  expect(await refused("%PDF-1.7 and nothing more")).toBe("unreadable: The PDF is damaged.");
  expect(await refused(docxOf(["x"]).subarray(0, -30))).toBe("unreadable: The Word document is damaged.");
});

function pdfWith(stream: Buffer, filter: string): Buffer {
  const object = `<< /Length ${stream.length} /Filter ${filter} >>\nstream\n${stream.toString("latin1")}\nendstream`;
  const pdf = pdfOf([["x"]]).toString("latin1");
  return Buffer.from(
    pdf.replace(/<< \/Length \d+ >>\nstream\n[\s\S]*?\nendstream/, () => object),
    "latin1",
  );
}

test("documents that unpack to gigabytes fail alone, and memory stays bounded", async () => {
  const maxBytes = 350_000_000;
  const bounded = createDocuments({ maxBytes });
  const spaces = packedSpaces(2_000_000_000);
  const zlib = Buffer.concat([Buffer.from([0x78, 0x9c]), spaces]);
  // A name that Word uses for pictures, which are not read.
  const main = docxOf([], { main: "word/media/word/document.xml", packed: spaces });
  const bombs = [pdfWith(deflateSync(zlib), "[/FlateDecode /FlateDecode]"), main];
  const peaks = new Map<number, number>();
  const watch = setInterval(() => {
    for (const pid of bounded.pids()) {
      const peak = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
      peaks.set(pid, Number(peak ?? 0) * 1024);
    }
  }, 10);
  try {
    for (const bomb of bombs) {
      expect(bomb.length).toBeLessThan(3_000_000);
      const beside = bounded.read(Buffer.from("beside"), {}, { userId: "another" });
      await expect(bounded.read(bomb, {})).rejects.toThrow("takes too much memory");
      expect((await beside).pages).toEqual([{ text: "beside" }]);
    }
    expect(peaks.size).toBeGreaterThan(bombs.length);
    for (const peak of peaks.values()) expect(peak).toBeLessThan(maxBytes + 200_000_000);
  } finally {
    clearInterval(watch);
    await bounded.close();
  }
}, 120_000);

test("a PDF whose pages contain themselves fails alone", async () => {
  const cyclic = pdfOf([["x"]])
    .toString("latin1")
    .replace("/Kids [4 0 R]", "/Kids [2 0 R]");
  await expect(read(Buffer.from(cyclic, "latin1"))).rejects.toMatchObject({ kind: "unreadable" });
  expect(await textOf("still here")).toBe("still here");
});

test("a document that takes too long is stopped, and the next one is read", async () => {
  const quick = createDocuments({ maxMs: 2_000 });
  try {
    const long = pdfOf(Array.from({ length: 5_000 }, () => Array.from({ length: 60 }, (_, n) => `Line ${n}`)));
    await expect(quick.read(long, {})).rejects.toMatchObject({ kind: "unreadable" });
    expect((await quick.read(Buffer.from("fine"), {})).pages).toEqual([{ text: "fine" }]);
  } finally {
    await quick.close();
  }
});

test("long text is cut between characters", async () => {
  const { pages, isCut } = await read(`a${"😀".repeat(3_200_000)}`);
  expect(isCut).toBe(true);
  expect(pages[0]?.text.length).toBeLessThanOrEqual(6_000_000);
  expect(pages[0]?.text.isWellFormed()).toBe(true);
});
