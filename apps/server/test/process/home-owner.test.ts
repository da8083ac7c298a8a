import { execFile, execFileSync } from "node:child_process";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { attachEmbeddedDatabase } from "../../src/engines/database/embedded.ts";
import { startEmbeddedDatabase } from "../../src/engines/database/index.ts";
import { canMount, privateMounts } from "../support/private-mounts.ts";

/** A user that exists on every Linux, and one that is in no user database. */
const daemon = 1;
const nameless = 54_321;

const driver = fileURLToPath(new URL("../../src/engines/database/index.ts", import.meta.url));
const attaching = fileURLToPath(new URL("../../src/engines/database/embedded.ts", import.meta.url));

/** Needs root, and a program folder that other users can read. */
function canBeOthers(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    execFileSync(process.execPath, ["--check", driver], { uid: daemon, gid: daemon, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function canHaveNamespaces(uid: number): boolean {
  try {
    execFileSync("unshare", ["-U", "true"], { uid, gid: uid, stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

let room: string;
let home: string;

beforeEach(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-owner-"));
  await chmod(room, 0o755);
  home = join(room, "home");
});
afterEach(() => rm(room, { recursive: true, force: true }));

async function makeHome(owner: number): Promise<void> {
  await mkdir(home, { mode: 0o700 });
  await chown(home, owner, owner);
}

const script = `
  const { startEmbeddedDatabase } = await import(${JSON.stringify(driver)});
  const home = process.argv[1];
  try {
    const database = await startEmbeddedDatabase({ home });
    await database.sql\`create table if not exists kept (id int)\`;
    await database.close();
    console.log("started");
  } catch (error) {
    console.log(error.message);
  }`;

/** Starts and stops as that user; returns the outcome. */
async function startAs(uid: number, prefix: readonly string[] = []): Promise<string> {
  const [file = "", ...args] = [...prefix, process.execPath, "--input-type=module", "--eval", script, home];
  const { stdout } = await promisify(execFile)(file, args, { uid, gid: uid, cwd: "/" });
  return stdout.trim();
}

/** Everything in the home with its owner. */
async function ownersIn(folder: string): Promise<Record<string, string>> {
  const owners: Record<string, string> = {};
  for (const name of ["", ...(await readdir(folder, { recursive: true }))].sort()) {
    const { uid, gid } = await lstat(join(folder, name));
    owners[name] = `${uid}:${gid}`;
  }
  return owners;
}

describe.runIf(canBeOthers())("root, in a home that another user owns", () => {
  test("is refused before anything changes, with the name of the right user; the owner keeps working", async () => {
    await makeHome(daemon);
    expect(await startAs(daemon)).toBe("started");
    const before = await ownersIn(home);
    expect(new Set(Object.values(before))).toEqual(new Set(["1:1"]));
    await expect(startEmbeddedDatabase({ home })).rejects.toThrow(
      `${home} belongs to user 1 (daemon), but Gantry runs as user 0 (root). Run Gantry as the owner`,
    );
    expect(await ownersIn(home)).toEqual(before);
    expect(await startAs(daemon)).toBe("started");
  }, 90_000);

  test("is refused when the home is empty, and leaves it empty", async () => {
    await makeHome(daemon);
    await expect(startEmbeddedDatabase({ home })).rejects.toThrow(`${home} belongs to user 1 (daemon)`);
    expect(await readdir(home)).toEqual([]);
    expect(await startAs(daemon)).toBe("started");
  }, 90_000);

  test("is refused when only the content belongs to the other user, as in a group's folder", async () => {
    await mkdir(home);
    await chmod(home, 0o777);
    expect(await startAs(daemon)).toBe("started");
    const before = await ownersIn(home);
    await expect(startEmbeddedDatabase({ home })).rejects.toThrow(
      `${join(home, "postgres.json")} belongs to user 1 (daemon)`,
    );
    expect(await ownersIn(home)).toEqual(before);
  }, 90_000);

  test("can read while the owner's server runs", async () => {
    await makeHome(daemon);
    const stays = script.replace("await database.close();", "console.log('up'); await new Promise(() => {});");
    const args = ["--input-type=module", "--eval", `setInterval(() => {}, 1000); ${stays}`, home];
    const child = execFile(process.execPath, args, { uid: daemon, gid: daemon, cwd: "/" });
    try {
      await new Promise((resolve) => child.stdout?.once("data", resolve));
      const database = await attachEmbeddedDatabase(home);
      if (!database) throw new Error("no server was found");
      expect(await database.sql`select count(*) from kept`).toEqual([{ count: 0 }]);
      await database.close();
    } finally {
      child.kill("SIGKILL");
      expect(await startAs(daemon)).toBe("started"); // takes over the database that was left running, and stops it
    }
  }, 90_000);
});

describe.runIf(canBeOthers())("a user, in a home with parts of another user", () => {
  test("gets an error that names the part and its owner, from a start and from a command", async () => {
    await makeHome(daemon);
    expect(await startAs(daemon)).toBe("started");
    await chown(join(home, "postgres"), 0, 0);
    expect(await startAs(daemon)).toBe(
      `${join(home, "postgres")} belongs to user 0 (root), but Gantry runs as user 1 (daemon). ` +
        `Run Gantry as the owner, or change the owner as root: chown -R 1 ${home}`,
    );
    await chmod(home, 0o755);
    const tool = `import { attachEmbeddedDatabase } from ${JSON.stringify(attaching)};
      await attachEmbeddedDatabase(${JSON.stringify(home)}).catch((error) => console.log(error.message));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", tool], {
      ...{ uid: 65_534, gid: 65_534, cwd: "/" },
    });
    expect(stdout).toContain(`${join(home, "lock")} belongs to user 1 (daemon), but Gantry runs as user 65534`);
  }, 90_000);
});

describe.runIf(canBeOthers())("a user that is in no user database", () => {
  test.runIf(canHaveNamespaces(nameless))(
    "starts where user namespaces are allowed",
    async () => {
      await makeHome(nameless);
      expect(await startAs(nameless)).toBe("started");
      expect(new Set(Object.values(await ownersIn(home)))).toEqual(new Set([`${nameless}:${nameless}`]));
      expect(await startAs(nameless)).toBe("started");
    },
    90_000,
  );

  test("gets an error otherwise, and leaves nothing that blocks another start", async () => {
    await makeHome(nameless);
    const forced = script.replace("{ home }", "{ home, account: 'self' }");
    const args = ["--input-type=module", "--eval", forced, home];
    const { stdout } = await promisify(execFile)(process.execPath, args, { uid: nameless, gid: nameless, cwd: "/" });
    expect(stdout).toContain(`PostgreSQL needs a user with a name, and user ${nameless} does not have one. Add`);
    expect(await readdir(home)).toEqual(["lock"]);
  }, 90_000);
});

describe.runIf(canBeOthers() && canMount())("root, in a home of its own", () => {
  test("starts on a machine that has only the users root and nobody", async () => {
    const passwd = (await readFile("/etc/passwd", "utf8")).split("\n");
    const few = join(room, "passwd");
    await writeFile(few, `${passwd.filter((line) => /^(root|nobody):/.test(line)).join("\n")}\n`);
    const mount = `mount --bind ${few} /etc/passwd && exec "$@"`;
    expect(await startAs(0, [...privateMounts, "sh", "-c", mount, "sh"])).toBe("started");
  }, 90_000);

  test("starts inside a closed folder of another user", async () => {
    await chown(room, daemon, daemon);
    await chmod(room, 0o700);
    const database = await startEmbeddedDatabase({ home });
    expect(await database.ready()).toBe(true);
    await database.close();
    expect((await lstat(home)).uid).toBe(0);
  }, 90_000);
});
