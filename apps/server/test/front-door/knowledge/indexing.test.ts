import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { indexedDrives } from "../../support/indexed-drives.ts";
import { docxOf, pdfOf } from "../../support/sample-documents.ts";

let gantry: GantryNode;
let key: string;
let drives: ReturnType<typeof indexedDrives>;

beforeAll(async () => {
  gantry = await startGantry();
  key = await gantry.newUser("librarian");
  drives = indexedDrives(gantry);
});
afterAll(() => gantry.close());

describe("files of an indexed drive", () => {
  test("become chunks with pages, lines and headings", async () => {
    const drive = await drives.create(key);
    await drives.put(drive, "/notes.txt", "Line one.\n\nLine three.\n", key);
    await drives.put(drive, "/guide.md", "# Setup\n\nIntro.\n\n## Linux\n\nRun `apt`.\n", key);
    await drives.put(drive, "/page.html", "<h1>Title</h1><p>Body &amp; soul</p><script>no()</script>", key);
    await drives.put(drive, "/paper.pdf", pdfOf([["Page one text"], ["Page two text", "and more"]]), key);
    await drives.put(drive, "/letter.docx", docxOf(["# Greeting", "Dear reader"]), key);
    await drives.put(drive, "/pixel.png", Buffer.from("iVBORw0KGgoAAAANSUhEUg==", "base64"), key);
    await drives.settled(drive, key);

    const [guide, linux, letter, notes, page, first, second, ...more] = await drives.chunks(drive);
    expect(more).toEqual([]);
    expect(guide).toMatchObject({ path: "/guide.md", n: 0, heading: "Setup", line_from: 1, line_to: 3, page: null });
    expect(linux).toMatchObject({ n: 1, heading: "Setup › Linux", line_from: 5, line_to: 7 });
    expect(letter).toMatchObject({ path: "/letter.docx", heading: "Greeting", line_from: null });
    expect(letter?.text).toContain("Dear reader");
    expect(notes).toMatchObject({ text: "Line one.\n\nLine three.", line_from: 1, line_to: 3, heading: null });
    expect(page).toMatchObject({ path: "/page.html", text: "# Title\n\nBody & soul", dimensions: null });
    expect(first).toMatchObject({ path: "/paper.pdf", page: 1, text: "Page one text" });
    expect(second).toMatchObject({ path: "/paper.pdf", page: 2, line_from: 1, line_to: 2 });

    const { index } = await drives.read(drive, key);
    expect(index).toMatchObject({ status: "ready", files: 6, indexed: 5, skipped: 1, failed: 0, chunks: 7 });
    const skipped = await drives.files(drive, key, "?status=skipped");
    expect(skipped).toMatchObject({
      total: 1,
      files: [{ path: "/pixel.png", reason: expect.stringContaining("no text") }],
    });
  });

  test("are searched by their current text: rewritten, deleted, and deleted with a directory", async () => {
    const drive = await drives.create(key);
    await drives.put(drive, "/a/one.txt", "first version", key);
    await drives.put(drive, "/a/two.txt", "second file", key);
    await drives.put(drive, "/b.txt", "third file", key);
    await drives.settled(drive, key);
    await drives.put(drive, "/a/one.txt", "another version", key);
    await drives.settled(drive, key);
    const texts = async () => (await drives.chunks(drive)).map(({ text }) => text);
    expect(await texts()).toEqual(["another version", "second file", "third file"]);
    await gantry.call("DELETE", `/v1/drives/${drive}/files/b.txt`, { key });
    expect(await texts()).toEqual(["another version", "second file"]);
    await gantry.call("DELETE", `/v1/drives/${drive}/tree/a`, { key });
    expect(await texts()).toEqual([]);
    expect((await drives.read(drive, key)).index).toMatchObject({ status: "ready", files: 0, chunks: 0 });
    await drives.put(drive, "/c.txt", "last", key);
    await drives.settled(drive, key);
    expect((await gantry.call("DELETE", `/v1/drives/${drive}`, { key })).status).toBe(204);
    expect(await drives.chunks(drive)).toEqual([]);
  });

  test("that are damaged fail alone, with a reason", async () => {
    const drive = await drives.create(key);
    await drives.put(drive, "/broken.pdf", "%PDF-1.4 nothing", key);
    await drives.put(drive, "/broken.docx", docxOf(["x"]).subarray(0, -30), key);
    await drives.put(drive, "/fine.txt", "fine", key);
    await drives.settled(drive, key);
    const { files } = await drives.files(drive, key);
    expect(files).toMatchObject([
      { path: "/broken.docx", status: "failed", reason: "The Word document is damaged.", chunks: 0 },
      { path: "/broken.pdf", status: "failed", reason: "The PDF is damaged." },
      { path: "/fine.txt", status: "indexed", chunks: 1 },
    ]);
    await drives.put(drive, "/broken.pdf", pdfOf([["mended"]]), key);
    await drives.settled(drive, key);
    expect((await drives.files(drive, key, "?status=indexed")).total).toBe(2);
  });
});

describe("the index of a drive", () => {
  test("covers files that were there before, and goes with null", async () => {
    const client = createClient({ url: gantry.url, key });
    const { id } = await client.drives.create({ name: "Old" });
    expect((await client.drives.get(id)).index).toBeNull();
    await client.drives.files.upload(id, "/old.md", "# Old\n\ntext");
    const conflict = await client.drives.rebuildIndex(id).catch((error) => error);
    expect(conflict).toMatchObject({ type: "conflict", status: 409 });
    const changed = await client.drives.update(id, { name: "Renamed", description: "d", index: {} });
    expect(changed).toMatchObject({ name: "Renamed", description: "d", index: { files: 1, embedding_model: null } });
    await drives.settled(id, key);
    const [before] = await drives.chunks(id);
    await client.drives.rebuildIndex(id);
    await drives.settled(id, key);
    const [after] = await drives.chunks(id);
    expect(after).toMatchObject({ text: before?.text, generation: (before?.generation ?? 0) + 1 });
    expect((await client.drives.update(id, { index: null })).index).toBeNull();
    expect(await drives.chunks(id)).toEqual([]);
    expect(await client.drives.indexFiles(id)).toMatchObject({ files: [], total: 0 });
  });

  test("belongs to the owner of the drive", async () => {
    const drive = await drives.create(key);
    const other = await gantry.newUser("stranger");
    const status = async (method: string, path: string, json?: object) =>
      (await gantry.call(method, `/v1/drives/${drive}${path}`, { key: other, ...(json && { json }) })).status;
    expect(await status("PATCH", "", { index: {} })).toBe(404);
    expect(await status("GET", "/index/files")).toBe(404);
    expect(await status("POST", "/index/rebuild")).toBe(404);
  });

  test("follows a large file in chunks that overlap and are bounded", async () => {
    const drive = await drives.create(key);
    const paragraphs = Array.from({ length: 60 }, (_, n) => `Paragraph ${n}. ${"Some words about it. ".repeat(12)}`);
    await drives.put(drive, "/long.txt", paragraphs.join("\n\n"), key);
    await drives.settled(drive, key);
    const chunks = await drives.chunks(drive);
    expect(chunks.length).toBeGreaterThan(10);
    for (const { text } of chunks) expect(text.length).toBeLessThanOrEqual(1_700);
    for (const paragraph of paragraphs) expect(chunks.some(({ text }) => text.includes(paragraph.trim()))).toBe(true);
    const [first, second] = chunks;
    expect(second?.line_from).toBe(first?.line_to);
  });
});
