import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { settleRestores } from "../../src/compose/restored-keys.ts";
import { openFilesystemBlobs } from "../../src/engines/blobs/filesystem.ts";
import { hashKey } from "../../src/engines/blobs/object-file.ts";
import { loadOrCreateSigningCredentials } from "../../src/engines/blobs/signing-credentials.ts";
import { connect, type Database } from "../../src/engines/database/index.ts";
import { createAesVault, loadSecretKey } from "../../src/engines/vault/aes-vault.ts";
import { openSecrets } from "../../src/features/secrets/index.ts";
import { testDatabase, testDatabaseUrl } from "../support/database.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

let room: string;
let backup: string;
const servers: ServerProcess[] = [];
const drops: (() => Promise<void>)[] = [];
const keyNames = ["link-signing-key.json", "secret-key"];

/** A stopped installation with a sealed user secret, files and its own keys. */
interface Installation {
  home: string;
  database: Database;
  env: { DATABASE_URL: string; GANTRY_HOME: string };
}

const blobsIn = async (home: string) =>
  openFilesystemBlobs({ home, bucket: "gantry", credentials: await loadOrCreateSigningCredentials(home) });

async function install(name: string, files: readonly string[], secrets = 1): Promise<Installation> {
  const { database, url, drop } = await testDatabase();
  drops.push(drop);
  const home = join(room, `home-of-${name}`);
  const vault = createAesVault(await loadSecretKey(home, undefined));
  await database.sql`
    insert into users (id, username, role, plan, created_at) values (${`usr_${name}`}, ${name}, 'user', 'free', now())`;
  await database.sql`insert into wallets (user_id) values (${`usr_${name}`})`;
  for (let n = 0; n < secrets; n++) {
    await openSecrets({ database, vault }).put(`usr_${name}`, `secret-${n}`, `${n} of ${name}`);
  }
  const blobs = await blobsIn(home);
  for (const key of files) await blobs.put(key, Buffer.from(`${key} of ${name}`), { contentType: "text/plain" });
  await blobs.close();
  return { home, database, env: { DATABASE_URL: url, GANTRY_HOME: home } };
}

async function filesOf(home: string): Promise<Record<string, string>> {
  const blobs = await blobsIn(home);
  const found: Record<string, string> = {};
  for (const key of (await Array.fromAsync(blobs.keys())).sort()) {
    found[key] = Buffer.concat((await (await blobs.open(key))?.body.toArray()) ?? []).toString();
  }
  await blobs.close();
  return found;
}

const keysOf = async (home: string) =>
  Object.fromEntries(await Promise.all(keyNames.map(async (name) => [name, await readFile(join(home, name), "utf8")])));

const hasKeysBeside = async (home: string) => (await readdir(home)).some((one) => one.startsWith("restore-"));

/** Identifies the rows by opening the secret with the home's key. */
async function ownerOf({ home, database }: Installation): Promise<string> {
  const [user] = await database.sql<
    { id: string; username: string }[]
  >`select id, username from users where username <> 'admin'`;
  const vault = createAesVault(await loadSecretKey(home, undefined));
  const secret = await openSecrets({ database, vault }).reveal(String(user?.id), "secret-0");
  expect(secret).toBe(`0 of ${user?.username}`);
  return String(user?.username);
}

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-replacing-"));
  const anna = await install("anna", ["in-both", "only-in-backup"]);
  backup = join(room, "anna.tar");
  const made = await gantryCommand(["backup", backup], anna.env);
  expect(made.code, made.stderr).toBe(0);
}, 60_000);

afterAll(async () => {
  await endEverything(servers, []);
  for (const drop of drops) await drop();
  await rm(room, { recursive: true, force: true });
}, 60_000);

describe("gantry restore --replace", () => {
  test("that fails halfway leaves keys, rows and files unchanged", async () => {
    const bert = await install("bert", ["in-both", "only-here"]);
    const before = [await keysOf(bert.home), await filesOf(bert.home), (await readdir(bert.home)).sort()];
    // The target of the backup's file is not writable.
    const name = hashKey("only-in-backup");
    const inTheWay = join(bert.home, "blobs", "gantry", name.charAt(0), name);
    await mkdir(join(inTheWay, "x"), { recursive: true });
    const failed = await gantryCommand(["restore", backup, "--replace"], bert.env);
    expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("EISDIR")]);
    await rm(inTheWay, { recursive: true });
    expect([await keysOf(bert.home), await filesOf(bert.home), (await readdir(bert.home)).sort()]).toEqual(before);
    expect(await ownerOf(bert)).toBe("bert");

    const old = await keysOf(bert.home);
    const done = await gantryCommand(["restore", backup, "--replace"], bert.env);
    expect(done.code, done.stderr).toBe(0);
    expect(await ownerOf(bert)).toBe("anna");
    const [last] = await bert.database.sql<{ entry: object }[]>`
      select entry from audit_records order by seq desc limit 1`;
    expect(last?.entry).toMatchObject({ action: "installation.restore", after: { replaced: true } });
    expect((await gantryCommand(["audit", "verify"], bert.env)).code).toBe(0);
    expect(await filesOf(bert.home)).toEqual({
      "in-both": "in-both of anna",
      "only-here": "only-here of bert",
      "only-in-backup": "only-in-backup of anna",
    });
    // Earlier keys are kept for older backups that do not contain them.
    const kept = (await readdir(bert.home)).filter((one) => one.includes(".before-restore-")).sort();
    expect(kept.map((one) => one.replace(/\.before-restore-.*/, ""))).toEqual(keyNames);
    for (const one of kept) {
      expect(await readFile(join(bert.home, one), "utf8")).toBe(old[one.replace(/\.before-restore-.*/, "")]);
      expect((await stat(join(bert.home, one))).mode & 0o777).toBe(0o600);
    }
    expect((await readdir(bert.home)).filter((one) => one.startsWith("restore-"))).toEqual([]);
  }, 60_000);

  test("killed (-9) at any moment leaves rows and a key that match", async () => {
    const carl = await install("carl", ["in-both"], 200);
    const own = join(room, "carl.tar");
    expect((await gantryCommand(["backup", own], carl.env)).code).toBe(0);
    const settled: string[] = [];
    // Later rounds wait longer, so that a kill comes after the commit on a slow machine too.
    for (let round = 0; round < 6 || (round < 16 && !settled.includes("took place")); round++) {
      // Alternate between two backups, so that a wrong key cannot open the secret.
      const before = await ownerOf(carl);
      const { child, ended } = startCommand(["restore", before === "carl" ? backup : own, "--replace"], carl.env);
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      while (!isOver && !(await hasKeysBeside(carl.home))) await sleep(1);
      await sleep(round * (round < 6 ? 3 : 20));
      child.kill("SIGKILL");
      await ended;
      await settleRestores(carl); // what the next start does
      settled.push((await ownerOf(carl)) === before ? "did not" : "took place");
      expect(await hasKeysBeside(carl.home)).toBe(false);
    }
    expect(settled).toContain("took place");
  }, 240_000);

  test("interrupted between the commit and the keys: the next start or backup moves the keys into place", async () => {
    const dora = await install("dora", []);
    const old = await keysOf(dora.home);
    expect((await gantryCommand(["restore", backup, "--replace"], dora.env)).code).toBe(0);
    const now = await keysOf(dora.home);
    const [row] = await dora.database.sql<{ id: string }[]>`
      select substr(obj_description('schema_migrations'::regclass), 9) as id`;
    const cutOff = async (id = String(row?.id)) => {
      await mkdir(join(dora.home, `restore-${id}`));
      for (const name of keyNames) {
        await writeFile(join(dora.home, name), old[name] ?? "");
        await writeFile(join(dora.home, `restore-${id}`, name), now[name] ?? "");
      }
    };
    await cutOff();
    const made = await gantryCommand(["backup", join(room, "dora.tar")], dora.env);
    expect(made.code, made.stderr).toBe(0);
    expect(await keysOf(dora.home)).toEqual(now);

    await cutOff();
    const server = startServer({ ...dora.env, GANTRY_ADMIN_KEY: adminKey, GANTRY_ROLE: "api" });
    servers.push(server);
    await server.url();
    expect(server.stdout()).not.toContain("The secret key cannot decrypt any stored credential");
    expect([await keysOf(dora.home), await hasKeysBeside(dora.home)]).toEqual([now, false]);
    server.kill("SIGTERM");
    await server.exit;

    // A restore that never committed leaves no files.
    await cutOff("20200101T000000Z-00000000");
    await settleRestores(dora);
    expect([await keysOf(dora.home), await hasKeysBeside(dora.home)]).toEqual([old, false]);
  }, 60_000);
});

describe("gantry restore into a new home", () => {
  test("that failed can be retried without --replace", async () => {
    const env = { GANTRY_HOME: join(room, "new"), DATABASE_URL: await testDatabaseUrl() };
    const whole = await readFile(backup);
    const broken = join(room, "broken.tar");
    await writeFile(broken, whole.subarray(0, whole.length >> 1));
    expect((await gantryCommand(["restore", broken], env)).code).toBe(1);
    await expect(stat(env.GANTRY_HOME)).rejects.toThrow("ENOENT");
    // The same after a failure of the file store.
    const name = hashKey("only-in-backup");
    await mkdir(join(env.GANTRY_HOME, "blobs", "gantry", name.charAt(0), name, "x"), { recursive: true });
    expect((await gantryCommand(["restore", backup], env)).stderr).toContain("EISDIR");
    await rm(join(env.GANTRY_HOME, "blobs"), { recursive: true });
    const again = await gantryCommand(["restore", backup], env);
    expect([again.code, again.stderr]).toEqual([0, ""]);
    const database = connect({ url: env.DATABASE_URL, poolSize: 2 });
    expect(await ownerOf({ home: env.GANTRY_HOME, database, env })).toBe("anna");
    await database.close();
  }, 60_000);

  test("of a backup without keys names the missing keys: the secret key and, with embedded files, the link key", async () => {
    const gina = await install("gina", ["a"]);
    const keyless = join(room, "keyless.tar");
    expect((await gantryCommand(["backup", keyless, "--no-keys"], gina.env)).code).toBe(0);
    const env = { GANTRY_HOME: join(room, "gina-again"), DATABASE_URL: await testDatabaseUrl() };
    const restored = await gantryCommand(["restore", keyless], env);
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stdout).toContain("The backup contains no secret key");
    expect(restored.stdout).toContain("The backup contains no key that signs file links.");
    const ofSecret = "The backup contains no secret key. Set GANTRY_SECRET_KEY";
    const strange = await install("hugo", []);
    const replaced = await gantryCommand(["restore", keyless, "--replace"], strange.env);
    expect([replaced.code, replaced.stdout]).toEqual([0, expect.stringContaining(ofSecret)]);
    // The key opens the restored secrets, so no other key is missing.
    const atHome = await gantryCommand(["restore", keyless, "--replace"], gina.env);
    expect([atHome.code, atHome.stdout]).toEqual([0, expect.not.stringContaining(ofSecret)]);
    const GANTRY_SECRET_KEY = (await keysOf(gina.home))["secret-key"].trim();
    const given = await gantryCommand(["restore", keyless, "--replace"], { ...env, GANTRY_SECRET_KEY });
    expect([given.code, given.stdout]).toEqual([0, expect.not.stringContaining(ofSecret)]);
    const whole = { GANTRY_HOME: join(room, "gina-whole"), DATABASE_URL: await testDatabaseUrl() };
    expect((await gantryCommand(["restore", backup], whole)).stdout).not.toContain("contains no");
  }, 60_000);

  test("of a backup whose first entry is damaged says so", async () => {
    const damaged = await readFile(backup);
    damaged.write("}", 600);
    const file = join(room, "damaged.tar");
    await writeFile(file, damaged);
    const refused = await gantryCommand(["restore", file], { GANTRY_HOME: join(room, "never-made") });
    expect([refused.code, refused.stderr]).toEqual([
      1,
      "The backup is damaged: its entry backup.json cannot be read\n",
    ]);
  });
});

describe("gantry backup", () => {
  test("names missing files and exits with 3", async () => {
    const emma = await install("emma", ["there"]);
    for (const key of ["there", "not-there"]) {
      await emma.database.sql`
        insert into files (key, id, owner_id, origin, state, content_type, size, etag, max_bytes, created_at, stored_at)
        values (${key}, ${`file_${key}`}, 'usr_emma', 'uploaded', 'stored', 'text/plain', 1, 'e', 10, now(), now())`;
    }
    const made = await gantryCommand(["backup", join(room, "emma.tar")], emma.env);
    expect([made.code, made.stderr]).toEqual([
      3,
      expect.stringMatching(/^1 file in the database .+\n {2}not-there\n$/),
    ]);
    expect(made.stdout).toContain("1 files (");
    // The rest can be restored.
    const env = { GANTRY_HOME: join(room, "emma-again"), DATABASE_URL: await testDatabaseUrl() };
    expect((await gantryCommand(["restore", join(room, "emma.tar")], env)).code).toBe(0);
  }, 60_000);

  test("two at once to one path: one succeeds, the other is refused with a reason, and no partial file remains", async () => {
    const fred = await install("fred", ["a"]);
    const folder = join(room, "at-once");
    await mkdir(folder);
    const target = join(folder, "fred.tar");
    const both = await Promise.all([1, 2, 3].map(() => gantryCommand(["backup", target], fred.env)));
    expect(both.map(({ code }) => code).sort()).toEqual([0, 1, 1]);
    for (const { code, stderr } of both) if (code === 1) expect(stderr).toContain(`${target} already exists`);
    expect(await readdir(folder)).toEqual(["fred.tar"]);
    const env = { GANTRY_HOME: join(room, "fred-again"), DATABASE_URL: await testDatabaseUrl() };
    expect((await gantryCommand(["restore", target], env)).code).toBe(0);
  }, 60_000);
});
