import { chmod, mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeHome } from "./home.ts";

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "make-home-"));
});
afterAll(() => rm(room, { recursive: true, force: true }));

test("makes the folder and those above it, for its owner alone, and takes one that is there", async () => {
  const home = join(room, "a", "b", "home");
  const warnings: string[] = [];
  for (let times = 0; times < 2; times++) await makeHome(home, (text) => warnings.push(text));
  expect(warnings).toEqual([]);
  expect((await stat(home)).mode & 0o777).toBe(0o700);
});

test("says when others may look into a folder that is there, and leaves it as it is", async () => {
  const home = join(room, "open");
  await mkdir(home, { mode: 0o755 });
  const warnings: string[] = [];
  await makeHome(home, (text) => warnings.push(text));
  expect(warnings).toEqual([expect.stringContaining(`Other users can list GANTRY_HOME (${home}, mode 755)`)]);
  expect((await stat(home)).mode & 0o777).toBe(0o755);
  // As PostgreSQL under an account of its own needs it.
  await chmod(home, 0o711);
  await makeHome(home, (text) => warnings.push(text));
  expect(warnings).toHaveLength(1);
});

const nothing = () => undefined;

test("names GANTRY_HOME if it cannot be a folder, and does not hang", async () => {
  const file = join(room, "file");
  await writeFile(file, "");
  await expect(makeHome(file, nothing)).rejects.toThrow(
    `GANTRY_HOME (${file}) cannot be used: ${file} is not a folder`,
  );
  await expect(makeHome(join(file, "home"), nothing)).rejects.toThrow(/^GANTRY_HOME .*ENOTDIR/);
  await expect(makeHome("/proc/gantry-home", nothing)).rejects.toThrow(
    /^GANTRY_HOME \(\/proc\/gantry-home\) cannot be used/,
  );
});
