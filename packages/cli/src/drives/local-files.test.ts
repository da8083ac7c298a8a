import { execFile } from "node:child_process";
import { constants, promises } from "node:fs";
import { lstat, mkdtemp, open, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { writeWhole } from "./local-files.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gantry-local-files-"));
});
afterEach(() => rm(folder, { recursive: true }));

const { signal } = new AbortController();
const inFolder = (name: string) => join(folder, name);
const write = (name: string, text: string, replace: boolean) =>
  writeWhole(inFolder(name), new Blob([text]).stream(), { replace, signal });

describe("a target that is replaced", () => {
  test("and is a link keeps pointing to its file", async () => {
    await writeFile(inFolder("file"), "old");
    await symlink("file", inFolder("link"));
    expect(await write("link", "new", true)).toBe(3);
    expect((await lstat(inFolder("link"))).isSymbolicLink()).toBe(true);
    expect(await readFile(inFolder("file"), "utf8")).toBe("new");
    expect(await write("link", "newer", false)).toBeUndefined();
    expect((await readdir(folder)).sort()).toEqual(["file", "link"]);
  });

  test("and is a pipe gets the bytes", async () => {
    await promisify(execFile)("mkfifo", [inFolder("pipe")]);
    // Open at both ends, so that nothing waits for the other end.
    const pipe = await open(inFolder("pipe"), constants.O_RDWR | constants.O_NONBLOCK);
    try {
      expect(await write("pipe", "bytes", true)).toBe(5);
      expect((await lstat(inFolder("pipe"))).isFIFO()).toBe(true);
      const { buffer, bytesRead } = await pipe.read();
      expect(buffer.toString("utf8", 0, bytesRead)).toBe("bytes");
      expect(await readdir(folder)).toEqual(["pipe"]);
    } finally {
      await pipe.close();
    }
  });
});

describe("on a file system without hard links", () => {
  const { link } = promises;
  afterEach(() => {
    promises.link = link;
    syncBuiltinESMExports();
  });

  test.each(["EPERM", "ENOTSUP", "EISDIR"])("a file is created but not replaced (%s)", async (code) => {
    promises.link = () => Promise.reject(Object.assign(new Error(code), { code }));
    syncBuiltinESMExports();
    expect(await write("file", "first", false)).toBe(5);
    expect(await write("file", "second", false)).toBeUndefined();
    expect(await readFile(inFolder("file"), "utf8")).toBe("first");
    expect(await readdir(folder)).toEqual(["file"]);
  });
});

test("an error names the file that was to be written", async () => {
  // Nothing can be created in this folder.
  const target = "/proc/none";
  const writing = writeWhole(target, new Blob(["text"]).stream(), { replace: false, signal });
  await expect(writing).rejects.toMatchObject({ code: "ENOENT", path: target });
});
