import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startEmbeddedDatabase } from "../../src/engines/database/index.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { gantryCommand } from "../support/gantry-command.ts";
import { canMount, privateMounts } from "../support/private-mounts.ts";
import { startServer } from "./server-process.ts";

let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-no-room-"));
});
afterAll(() => rm(room, { recursive: true, force: true }));

/**
 * Replaces the folder with a copy on a disk of so many megabytes, filled except for some bytes, before the command
 * runs. Afterwards lists partial files. The fill is bounded: if the mount failed, it
 * must not fill the machine's disk.
 */
function onDiskOf(folder: string, megabytes: number, bytesLeft = 0): string[] {
  const shell = `
    set -e
    mount -t tmpfs -o size=${megabytes}m none /mnt
    cp -a "${folder}/." /mnt
    mount --move /mnt "${folder}"
    head -c ${bytesLeft} /dev/zero > "${folder}/given-back"
    head -c ${megabytes}M /dev/zero > "${folder}/filler" 2>/dev/null || true
    rm "${folder}/given-back"
    ended=0
    "$@" || ended=$?
    find "${folder}" -name "draft-*" -o -name "*.unfinished" >&2
    exit $ended`;
  return [...privateMounts, "sh", "-c", shell, "sh"];
}

describe.runIf(canMount())("on a full disk", () => {
  test("a start and a command name the home, say what to do, and leave no files", async () => {
    const home = join(room, "home");
    await (await startEmbeddedDatabase({ home })).close();
    const noRoom = `The disk of ${home} is full. Free some space, then try again. `;
    const refusal = `${noRoom}ENOSPC`;
    const verify = await gantryCommand(["ledger", "verify"], { GANTRY_HOME: home }, onDiskOf(home, 120));
    expect([verify.code, verify.stderr]).toEqual([2, expect.stringContaining(refusal)]);
    const server = startServer({ GANTRY_HOME: home }, onDiskOf(home, 120));
    expect(await server.exit).toMatchObject({ code: 1 });
    expect(server.stderr()).toContain(refusal);
    // With space only for the lock, PostgreSQL fails: reported at once, without a minute of retries.
    const later = await gantryCommand(["ledger", "verify"], { GANTRY_HOME: home }, onDiskOf(home, 120, 4096));
    expect([later.code, later.stderr]).toEqual([2, expect.stringContaining(noRoom)]);
    expect(later.stderr).toContain('could not write lock file "postmaster.pid": No space left on device');
    for (const said of [verify.stderr, server.stderr()]) expect(said).not.toContain("draft-");
  }, 60_000);

  test("a first start names the home", async () => {
    const home = join(room, "new-home");
    await mkdir(home);
    const server = startServer({ GANTRY_HOME: home }, onDiskOf(home, 40, 20_000_000));
    expect(await server.exit).toMatchObject({ code: 1 });
    expect(server.stderr()).toContain(`The disk of ${home} is full. Free some space, then try again. `);
  }, 60_000);

  test("a backup names its target folder and leaves no partial file", async () => {
    const [target, home] = [join(room, "backups"), join(room, "home-of-backup")];
    await mkdir(target);
    const env = { GANTRY_HOME: home, DATABASE_URL: await testDatabaseUrl() };
    const made = await gantryCommand(["backup", target], env, onDiskOf(target, 1, 4096));
    expect([made.code, made.stderr]).toEqual([
      1,
      expect.stringContaining(`The disk of ${target} is full. Free some space, then try again. ENOSPC`),
    ]);
    expect(made.stderr).not.toContain(".unfinished");
  }, 60_000);
});
