import { execFile } from "node:child_process";
import { createReadStream } from "node:fs";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { createTarWriter, readTar } from "./tar.ts";

const run = promisify(execFile);
const longName = `drives/${"a folder/".repeat(30)}ü and 漢字.txt`;

async function written(write: (tar: ReturnType<typeof createTarWriter>) => Promise<void>): Promise<string> {
  const chunks: Uint8Array[] = [];
  await write(createTarWriter(async (bytes) => void chunks.push(Buffer.from(bytes))));
  const path = join(await mkdtemp(join(tmpdir(), "gantry-tar-")), "archive.tar");
  await writeFile(path, Buffer.concat(chunks));
  return path;
}

test("long names and names outside of ASCII are read by tar and by the reader", async () => {
  const path = await written(async (tar) => {
    await tar.file(longName, Buffer.from("content"));
    await tar.file("short.txt", Buffer.from("other"));
    await tar.end();
  });
  await run("tar", ["-xf", path, "-C", join(path, "..")]);
  expect((await readFile(join(path, "..", longName))).toString()).toBe("content");
  const entries: [string, string][] = [];
  for await (const { name, body } of readTar(createReadStream(path, { highWaterMark: 7 }))) {
    entries.push([name, Buffer.concat(await Array.fromAsync(body)).toString()]);
  }
  expect(entries).toEqual([
    [longName, "content"],
    ["short.txt", "other"],
  ]);
});

test("files of more than 8 GiB keep their size", async () => {
  const size = 9 * 2 ** 30 + 1;
  async function* stopped(): AsyncGenerator<Uint8Array> {
    yield Buffer.from("begin");
    throw new Error("enough");
  }
  const path = await written((tar) => tar.stream("large.bin", size, stopped()).catch(() => undefined));
  // The archive is cut, which tar reports after its list.
  const { stdout } = await run("tar", ["-tvf", path]).catch((error: { stdout: string }) => error);
  expect(stdout).toContain(` ${size} `);
  for await (const entry of readTar(createReadStream(path))) {
    expect(entry).toMatchObject({ name: "large.bin", size });
    break;
  }
});
