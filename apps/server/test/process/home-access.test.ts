import { execFileSync } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { gantryCommand } from "../support/gantry-command.ts";

const other = 54_321;
const asOther = ["setpriv", `--reuid=${other}`, `--regid=${other}`, "--clear-groups"];
const thisFile = fileURLToPath(import.meta.url);

/** Needs root, and a program folder that other users can read. */
function canBeOthers(): boolean {
  try {
    const [file = "", ...args] = asOther;
    execFileSync(file, [...args, process.execPath, "--check", thisFile], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-closed-"));
  await chmod(room, 0o777);
});
afterAll(() => rm(room, { recursive: true, force: true }));

describe.runIf(canBeOthers())("a home of mode 700 that belongs to another user", () => {
  test.each([["backup", "copy.tar"], ["ledger", "verify"], ["rekey"]])(
    "%s names its owner instead of reporting it as missing",
    async (...args) => {
      const home = join(room, `of-root-${args[0]}`);
      await mkdir(home, { mode: 0o700 });
      await writeFile(join(home, "postgres.json"), "{}");
      const given = args.map((arg) => (arg.endsWith(".tar") ? join(room, arg) : arg));
      const { stdout, stderr } = await gantryCommand(given, { GANTRY_HOME: home }, asOther);
      expect([stdout, stderr]).toEqual([
        "",
        `${home} belongs to user 0 (root), but Gantry runs as user ${other}. ` +
          `Run Gantry as the owner, or change the owner as root: chown -R ${other} ${home}\n`,
      ]);
    },
    30_000,
  );

  test("an empty place does not count as a missing home", async () => {
    for (const nowhere of [join(room, "none"), join(thisFile, "none")]) {
      const { stderr } = await gantryCommand(["ledger", "verify"], { GANTRY_HOME: nowhere }, asOther);
      expect(stderr).toBe(`${nowhere} does not contain Gantry data. Set GANTRY_HOME or DATABASE_URL.\n`);
    }
  }, 30_000);
});
