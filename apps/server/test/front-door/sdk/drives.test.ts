import { randomBytes } from "node:crypto";
import { createReadStream, openAsBlob } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createClient, type GantryClient } from "../../../../../packages/sdk/src/index.ts";
import { failureOf } from "../../support/failure-of.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let client: GantryClient;
let stranger: GantryClient;
let drive: string;

beforeAll(async () => {
  gantry = await startGantry();
  client = createClient({ url: gantry.url, key: gantry.adminKey });
  stranger = createClient({ url: gantry.url, key: await gantry.newUser("stranger") });
});
afterAll(() => gantry.close());
beforeEach(async () => {
  drive = (await client.drives.create({ name: "work" })).id;
});

const textAt = async (path: string) => (await client.drives.files.download(drive, path)).text();
const pathsOf = async (options: { path?: string; recursive?: boolean } = {}) =>
  Array.fromAsync(client.drives.eachItem(drive, options), ({ path }) => path);
async function* slowly(bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes; at += 50) yield new Uint8Array(Math.min(50, bytes - at));
}

describe("drives", () => {
  test("are created, read, listed, iterated and deleted", async () => {
    const user = createClient({ url: gantry.url, key: await gantry.newUser("owner") });
    const made = [];
    for (const name of ["one", "two", "three"]) made.unshift(await user.drives.create({ name, description: "mine" }));
    expect(made[0]).toEqual({
      id: expect.stringMatching(/^drv_/),
      name: "three",
      description: "mine",
      index: null,
      created_at: expect.any(String),
    });
    expect(await user.drives.get(made[0]?.id ?? "")).toEqual(made[0]);
    expect(await user.drives.list({ limit: 1, offset: 1 })).toEqual({
      drives: [made[1]],
      total: 3,
      limit: 1,
      offset: 1,
    });
    expect(await Array.fromAsync(user.drives.each())).toEqual(made);
    expect(await user.drives.delete(made[0]?.id ?? "")).toBeUndefined();
    expect((await user.drives.list()).total).toBe(2);
  });

  test("of another user are hidden, and invalid ones are reported by field", async () => {
    for (const call of [
      () => stranger.drives.get(drive),
      () => stranger.drives.delete(drive, { force: true }),
      () => stranger.drives.items(drive),
      () => stranger.drives.deleteTree(drive, "/"),
      () => stranger.drives.files.upload(drive, "/f", "mine now"),
      () => stranger.drives.files.upload(drive, "/f", slowly(300_000)),
      () => stranger.drives.files.replace(drive, "/f", "mine now"),
      () => stranger.drives.files.download(drive, "/f"),
      () => stranger.drives.files.head(drive, "/f"),
      () => stranger.drives.files.delete(drive, "/f"),
    ]) {
      expect(await failureOf(call())).toMatchObject({ status: 404, type: "not_found", requestId: expect.any(String) });
    }
    const wrong = await failureOf(client.drives.create({ name: "", description: "x".repeat(2001) }));
    expect(wrong).toMatchObject({ status: 400, type: "invalid_input", retryable: false });
    expect(new Set(wrong.issues.map(({ loc }) => loc.join(".")))).toEqual(new Set(["body.name", "body.description"]));
    expect((await failureOf(client.drives.list({ limit: 101 }))).issues).toMatchObject([{ loc: ["query", "limit"] }]);
  });

  test("that an agent uses are deleted only with force", async () => {
    const agent = await client.agents.create({ name: "Writer", goal: "Write.", tools: [], drives: [drive] });
    expect(await failureOf(client.drives.delete(drive))).toMatchObject({
      status: 409,
      type: "conflict",
      details: { agents: [{ id: agent.id, name: "Writer" }] },
    });
    expect((await client.drives.get(drive)).id).toBe(drive);
    await client.drives.delete(drive, { force: true });
    expect(await failureOf(client.drives.get(drive))).toMatchObject({ status: 404 });
  });
});

describe("files", () => {
  test("are created from text, bytes, a Blob, a file on disk and all kinds of streams", async () => {
    const folder = await mkdtemp(join(tmpdir(), "sdk-drives-"));
    const onDisk = join(folder, "f.txt");
    await writeFile(onDisk, "déjà vu");
    const bytes = new TextEncoder().encode("déjà vu");
    const contents = {
      text: "déjà vu",
      bytes,
      view: new Uint8Array([0, ...bytes, 0]).subarray(1, -1),
      buffer: bytes.slice().buffer,
      blob: new Blob(["déjà", " vu"]),
      disk: await openAsBlob(onDisk),
      nodeStream: createReadStream(onDisk),
      nodeTextStream: createReadStream(onDisk, { encoding: "utf8", highWaterMark: 2 }),
      webStream: new Blob([bytes]).stream(),
      generator: (async function* () {
        yield bytes.subarray(0, 3);
        yield new Uint8Array();
        yield "jà vu";
      })(),
    };
    for (const [name, content] of Object.entries(contents)) {
      const written = await client.drives.files.upload(drive, `/made/${name}.txt`, content);
      expect(written, name).toEqual({
        path: `/made/${name}.txt`,
        size: bytes.length,
        created_at: expect.any(String),
        etag: expect.stringMatching(/^".+"$/),
      });
      expect(await textAt(`/made/${name}.txt`), name).toBe("déjà vu");
    }
    for (const [at, content] of ["again", createReadStream(onDisk), new Blob(["again"]).stream()].entries()) {
      const name = ["text", "blob", "disk"][at] ?? "";
      await client.drives.files.replace(drive, `/made/${name}.txt`, content);
      expect(await textAt(`/made/${name}.txt`)).toBe(at === 1 ? "déjà vu" : "again");
    }
    expect(await client.drives.files.upload(drive, "/empty", "")).toMatchObject({ size: 0 });
    await client.drives.files.replace(drive, "/empty", slowly(0));
    expect(await textAt("/empty")).toBe("");
    await rm(folder, { recursive: true });
  });

  test("have all kinds of names, and no name escapes the drive", async () => {
    const paths = ["/a b/ü?#%.txt", "/100%/%2e%2e/...", "/+&=;:@,'\"/\\", "/💡"];
    for (const path of paths) {
      const given = path === "/💡" ? "💡" : path;
      expect((await client.drives.files.upload(drive, given, path)).path).toBe(path);
      expect(await textAt(given)).toBe(path);
      await client.drives.files.replace(drive, given, `${path}!`);
      expect(await textAt(path)).toBe(`${path}!`);
    }
    const files = await Array.fromAsync(client.drives.eachItem(drive, { recursive: true }));
    expect(files.flatMap(({ type, path }) => (type === "file" ? [path] : [])).sort()).toEqual([...paths].sort());
    const misleading = ["", "/", "..", ".", "a/../b", "/a//b", "../../v1/drives"];
    for (const path of misleading) {
      for (const call of [
        () => client.drives.files.download(drive, path),
        () => client.drives.files.delete(drive, path),
        () => client.drives.files.replace(drive, path, "x"),
      ]) {
        await expect(call(), path).rejects.toThrow(TypeError);
      }
      if (path !== "/") await expect(client.drives.deleteTree(drive, path), path).rejects.toThrow(TypeError);
      const refused = await failureOf(client.drives.files.upload(drive, path, "x"));
      expect(refused, path).toMatchObject({ status: 400, type: "invalid_input", issues: [{ loc: ["body", "path"] }] });
    }
    expect((await client.drives.get(drive)).id).toBe(drive);
    for (const path of paths) await client.drives.files.delete(drive, path);
    expect(await pathsOf()).toEqual([]);
  });

  test("have a single-line type, or are not sent", async () => {
    await client.drives.files.upload(drive, "/f", "mine", { type: " text/plain\n" });
    expect([(await client.drives.files.head(drive, "/f")).content_type, await textAt("/f")]).toEqual([
      expect.stringMatching(/^text\/plain/),
      "mine",
    ]);
    for (const type of ["text/plain\r\n\r\nNOT MINE", "text/plain\n\nNOT MINE", "text/\0", "text/plain; name=ключ"]) {
      for (const call of [
        () => client.drives.files.upload(drive, "/g", "mine", { type }),
        () => client.drives.files.upload(drive, "/g", slowly(100), { type }),
        () => client.drives.files.replace(drive, "/f", "mine", { type }),
      ]) {
        expect(await failureOf(call())).toMatchObject({
          status: 0,
          type: "invalid_input",
          retryable: false,
          message: expect.stringContaining("content-type"),
        });
      }
    }
    expect(await pathsOf()).toEqual(["/f"]);
  });

  test("are described and downloaded, whole, in part and conditionally", async () => {
    const { etag } = await client.drives.files.upload(drive, "/f.csv", "one,two\n");
    expect(await client.drives.files.head(drive, "/f.csv")).toEqual({
      size: 8,
      content_type: "text/csv; charset=utf-8",
      etag,
      last_modified: expect.stringMatching(/GMT$/),
    });
    await client.drives.files.upload(drive, "/odd", randomBytes(16), { type: "application/x-odd" });
    expect((await client.drives.files.head(drive, "/odd")).content_type).toBe("application/x-odd");
    await client.drives.files.replace(drive, "/odd", new Blob(["{}"], { type: "application/x-other" }));
    expect((await client.drives.files.head(drive, "/odd")).content_type).toBe("application/x-other");
    const part = await client.drives.files.download(drive, "/f.csv", { range: "bytes=4-6", ifRange: etag });
    expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 4-6/8", "two"]);
    const whole = await client.drives.files.download(drive, "/f.csv", { range: "bytes=4-6", ifRange: '"other"' });
    expect([whole.status, await whole.text()]).toEqual([200, "one,two\n"]);
    const same = await client.drives.files.download(drive, "/f.csv", { ifNoneMatch: etag });
    expect([same.status, await same.text()]).toEqual([304, ""]);
    expect(await failureOf(client.drives.files.download(drive, "/f.csv", { range: "bytes=8-" }))).toMatchObject({
      status: 416,
      type: "invalid_input",
    });
    for (const read of [client.drives.files.head, client.drives.files.download]) {
      expect(await failureOf(read(drive, "/g"))).toMatchObject({ status: 404, type: "not_found" });
    }
  });

  test("are written under conditions", async () => {
    const { upload, replace, download, delete: remove } = client.drives.files;
    const first = await upload(drive, "/f", "one", { ifNoneMatch: "*" });
    expect(await failureOf(upload(drive, "/f", "two"))).toMatchObject({ status: 409, type: "conflict" });
    const taken = await failureOf(upload(drive, "/f", slowly(100), { ifNoneMatch: "*" }));
    expect(taken).toMatchObject({ status: 412, type: "precondition_failed", retryable: false });
    const second = await replace(drive, "/f", "two", { ifMatch: first.etag });
    expect(second.etag).not.toBe(first.etag);
    for (const content of ["three", slowly(100)]) {
      expect(await failureOf(replace(drive, "/f", content, { ifMatch: first.etag }))).toMatchObject({ status: 412 });
    }
    expect(await failureOf(download(drive, "/f", { ifMatch: first.etag }))).toMatchObject({ status: 412 });
    expect(await failureOf(remove(drive, "/f", { ifMatch: first.etag }))).toMatchObject({ status: 412 });
    expect(await textAt("/f")).toBe("two");
    expect(await failureOf(replace(drive, "/none", "x"))).toMatchObject({ status: 404, type: "not_found" });
    await remove(drive, "/f", { ifMatch: `"x", ${second.etag}` });
    expect(await failureOf(remove(drive, "/f"))).toMatchObject({ status: 404 });
  });

  test("are in directories, which are listed in pages, walked and deleted recursively", async () => {
    for (const path of ["/a", "/d/b", "/d/e/c", "/d/e/d", "/z"]) await client.drives.files.upload(drive, path, path);
    expect(await client.drives.items(drive)).toEqual({
      items: [
        { path: "/a", type: "file", size: 2 },
        { path: "/d", type: "directory" },
        { path: "/z", type: "file", size: 2 },
      ],
      total: 3,
      limit: 1000,
      offset: 0,
    });
    const page = await client.drives.items(drive, { path: "/d", limit: 1, offset: 1 });
    expect(page).toMatchObject({ items: [{ path: "/d/e", type: "directory" }], total: 2, limit: 1, offset: 1 });
    expect(await pathsOf()).toEqual(["/a", "/d", "/z"]);
    expect(await pathsOf({ path: "/d/e" })).toEqual(["/d/e/c", "/d/e/d"]);
    expect(await pathsOf({ recursive: true })).toEqual(["/a", "/d", "/d/b", "/d/e", "/d/e/c", "/d/e/d", "/z"]);
    expect(await failureOf(client.drives.items(drive, { path: "/none" }))).toMatchObject({ status: 404 });
    expect(await failureOf(client.drives.items(drive, { path: "/.." }))).toMatchObject({
      status: 400,
      issues: [{ loc: ["query", "path"] }],
    });
    expect(await failureOf(client.drives.deleteTree(drive, "/none"))).toMatchObject({ status: 404 });
    await client.drives.deleteTree(drive, "/d/e/");
    expect(await pathsOf({ recursive: true })).toEqual(["/a", "/d", "/d/b", "/z"]);
    await client.drives.deleteTree(drive, "/");
    expect(await pathsOf()).toEqual([]);
  });
});
