import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHome } from "./make-home.ts";

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "make-home-"));
});
afterAll(() => rm(room, { recursive: true, force: true }));

test("makes the folder and those above it, for its owner alone, and takes one that is there", async () => {
  const home = join(room, "a", "b", "home");
  await makeHome(home);
  await makeHome(home);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});

test("says which setting names what cannot be a folder, and does not try for ever", async () => {
  const file = join(room, "file");
  await writeFile(file, "");
  await expect(makeHome(file)).rejects.toThrow(`GANTRY_HOME is ${file}, which cannot be used: ${file} is no folder`);
  await expect(makeHome(join(file, "home"))).rejects.toThrow(/^GANTRY_HOME is .*ENOTDIR/);
  await expect(makeHome("/proc/gantry-home")).rejects.toThrow(
    /^GANTRY_HOME is \/proc\/gantry-home, which cannot be used/,
  );
});
