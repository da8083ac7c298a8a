import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../src/engines/database/index.ts";
import { createAesVault, loadSecretKey } from "../../src/engines/vault/aes-vault.ts";
import { settleKeyChange } from "../../src/engines/vault/change-key.ts";
import { sealedColumns } from "../../src/engines/vault/sealed-columns.ts";
import type { Vault } from "../../src/engines/vault/vault.ts";
import { testDatabase } from "../support/database.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { fillSealed, openSealed, sealedTexts } from "../support/sealed-values.ts";
import { waitFor } from "../support/wait-for.ts";
import { adminKey, endEverything, type ServerProcess, startServer } from "./server-process.ts";

let room: string;
const servers: ServerProcess[] = [];
const homes: string[] = [];

beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-rekey-"));
});

afterAll(async () => {
  await endEverything(servers, homes);
  await rm(room, { recursive: true, force: true });
}, 60_000);

const start = (env: Record<string, string>): ServerProcess => {
  const server = startServer({ GANTRY_ADMIN_KEY: adminKey, GANTRY_ROLE: "api", ...env });
  servers.push(server);
  return server;
};

async function stop(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  expect(await server.exit).toEqual({ code: 0, signal: null });
}

const call = async (url: string, method: string, path: string, body?: FormData | object) =>
  fetch(url + path, {
    method,
    headers: {
      "x-api-key": adminKey,
      ...(body && !(body instanceof FormData) && { "content-type": "application/json" }),
    },
    ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });

interface Place {
  database: Database;
  home: string;
  userId: string;
  env: Record<string, string>;
  keyOf(file?: string): Promise<Uint8Array>;
  before: Awaited<ReturnType<typeof openSealed>>;
  openAll(vault: Vault): ReturnType<typeof openSealed>;
  drop(): Promise<void>;
}

/** The external database and home of a stopped installation. */
async function place(name: string): Promise<Place> {
  const { database, url, drop } = await testDatabase();
  const home = join(room, name);
  const key = await loadSecretKey(home, undefined);
  const userId = "usr_1";
  await database.sql`
    insert into users (id, username, role, plan, created_at) values (${userId}, 'anna', 'user', 'free', now())`;
  await fillSealed(database, createAesVault(key), userId);
  return {
    database,
    home,
    userId,
    env: { DATABASE_URL: url, GANTRY_HOME: home },
    keyOf: async (file = "secret-key") => Buffer.from((await readFile(join(home, file), "utf8")).trim(), "base64"),
    before: await openSealed(database, createAesVault(key), userId),
    openAll: (vault) => openSealed(database, vault, userId),
    drop,
  };
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

async function sealedNow({ sql }: Database): Promise<string[]> {
  const found: string[] = [];
  for (const { table, column } of sealedColumns) {
    const rows = await sql`select ${sql(column)} as sealed from ${sql(table)} where ${sql(column)} is not null`;
    found.push(...rows.map((row) => Buffer.from(row.sealed).toString("hex")));
  }
  return found.sort();
}

test("every bytea column is either resealed, a hash or a vector", async () => {
  const { database, drop } = await testDatabase();
  try {
    const rows = await database.sql<{ name: string }[]>`
      select table_name || '.' || column_name as name from information_schema.columns
      where table_schema = 'public' and data_type = 'bytea' order by 1`;
    const others = [
      "api_keys.secret_hash",
      "audit_chain.deleted_hash",
      "audit_chain.hash",
      "audit_records.hash",
      "drive_chunks.embedding",
      "drive_index_vectors.embedding",
      "drive_index_vectors.hash",
      "oauth_access_tokens.secret_hash",
      "oauth_clients.secret_hash",
      "oauth_connections.code_hash",
      "oauth_connections.family_hash",
      "oauth_connections.refresh_hash",
      "oauth_connections.replaced_hash",
      // Useless without the refresh token that was replaced.
      "oauth_connections.replaced_salt",
      "password_resets.token_hash",
      "reserved_usernames.hash",
      "retired_key_pairs.secret_hash",
      "sign_in_links.token_hash",
      "triggers.secret_hash",
    ];
    const sealed = sealedColumns.map(({ table, column }) => `${table}.${column}`);
    expect(rows.map(({ name }) => name)).toEqual([...others, ...sealed].sort());
  } finally {
    await drop();
  }
});

describe("gantry rekey with the key in a file", () => {
  test("reseals everything: features open it with the new key and not with the old one", async () => {
    const here = await place("whole");
    const old = await here.keyOf();
    const done = await gantryCommand(["rekey"], here.env);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toContain(`Re-encrypted ${sealedTexts} secrets\n`);
    const now = await here.keyOf();
    expect(Buffer.compare(now, old)).not.toBe(0);
    expect((await stat(join(here.home, "secret-key"))).mode & 0o777).toBe(0o600);
    expect(await isThere(join(here.home, "secret-key.new"))).toBe(false);
    expect(await here.openAll(createAesVault(now))).toEqual(here.before);
    await expect(here.openAll(createAesVault(old))).rejects.toThrow();

    // To a key that the operator chooses.
    const wanted = Buffer.alloc(32, 5);
    const chosen = await gantryCommand(["rekey"], { ...here.env, GANTRY_NEW_SECRET_KEY: wanted.toString("base64") });
    expect([chosen.code, chosen.stderr]).toEqual([0, ""]);
    expect(Buffer.compare(await here.keyOf(), wanted)).toBe(0);
    expect(await here.openAll(createAesVault(wanted))).toEqual(here.before);

    const records = await here.database.sql<{ entry: object }[]>`select entry from audit_records order by seq`;
    expect(records.slice(-2).map(({ entry }) => entry)).toMatchObject(
      Array(2).fill({
        action: "installation.rekey",
        actor: { type: "operator" },
        after: { re_encrypted: sealedTexts, unreadable: 0 },
      }),
    );
    expect((await gantryCommand(["audit", "verify"], here.env)).code).toBe(0);
    await here.drop();
  }, 60_000);

  test("is refused while a server runs on the database", async () => {
    const here = await place("busy");
    const before = await sealedNow(here.database);
    const server = start(here.env);
    await server.url();
    const refused = await gantryCommand(["rekey"], here.env);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^1 server runs on this database: stop all of them first \(.+\)\.\n$/);
    expect(await isThere(join(here.home, "secret-key.new"))).toBe(false);
    expect(await sealedNow(here.database)).toEqual(before);
    await stop(server);
    expect((await gantryCommand(["rekey"], here.env)).code).toBe(0);
    await here.drop();
  }, 60_000);

  test("interrupted between the commit and the file: the next start and a backup use the new key", async () => {
    const here = await place("cut-after");
    const old = await readFile(join(here.home, "secret-key"));
    expect((await gantryCommand(["rekey"], here.env)).code).toBe(0);
    const now = await readFile(join(here.home, "secret-key"));
    const cutOff = async () => {
      await writeFile(join(here.home, "secret-key"), old);
      await writeFile(join(here.home, "secret-key.new"), now);
    };

    await cutOff();
    const archive = join(room, "cut-after.tar");
    const backup = await gantryCommand(["backup", archive], here.env);
    expect(backup.code, backup.stderr).toBe(0);
    const { stdout } = await promisify(execFile)("tar", ["-xOf", archive, "keys/secret-key"]);
    expect(stdout).toBe(now.toString());

    await cutOff();
    const server = start(here.env);
    const url = await server.url();
    expect(await readFile(join(here.home, "secret-key"))).toEqual(now);
    expect(await isThere(join(here.home, "secret-key.new"))).toBe(false);
    expect((await call(url, "GET", "/api/v2/webhooks/secret")).status).toBe(200);
    await stop(server);
    expect(await here.openAll(createAesVault(await here.keyOf()))).toEqual(here.before);

    // Also without the old file, as after a partial restore.
    await rm(join(here.home, "secret-key"));
    await writeFile(join(here.home, "secret-key.new"), now);
    expect(await settleKeyChange({ database: here.database, home: here.home, given: undefined })).toBe("changed");
    expect(await readFile(join(here.home, "secret-key"))).toEqual(now);
    await here.drop();
  }, 60_000);

  test("killed (-9) at any moment leaves a key that opens everything", async () => {
    const here = await place("killed");
    // Enough rows for a kill in the middle.
    const vault = createAesVault(await here.keyOf());
    const names = Array.from({ length: 6_000 }, (_, n) => `name-${n}`);
    const texts = names.map((name) => vault.seal("x".repeat(200), `secret:${here.userId}:${name}`) as Buffer);
    await here.database.sql`
      insert into secrets (owner_id, name, sealed)
      select ${here.userId}, name, sealed from unnest(${names}::text[], ${texts}::bytea[]) as made (name, sealed)`;
    const outcomes: string[] = [];
    for (let round = 0; round < 5; round++) {
      const { child, ended } = startCommand(["rekey"], here.env);
      await waitFor("the next key", () => isThere(join(here.home, "secret-key.new")), 20_000);
      await sleep(round * 150);
      child.kill("SIGKILL");
      await ended;
      // What the next start does.
      outcomes.push(await settleKeyChange({ database: here.database, home: here.home, given: undefined }));
      const now = createAesVault(await here.keyOf());
      expect(await here.openAll(now)).toEqual(here.before);
      const rows = await here.database.sql<{ name: string; sealed: Uint8Array }[]>`select name, sealed from secrets`;
      expect(rows.length).toBe(6_001);
      for (const { name, sealed } of rows) now.open(sealed, `secret:${here.userId}:${name}`);
      expect(await isThere(join(here.home, "secret-key.new"))).toBe(false);
    }
    expect(outcomes[0]).toBe("not changed");
    await here.drop();
  }, 90_000);

  test("of a home without a key is refused with that reason", async () => {
    const here = await place("no-key");
    const refused = await gantryCommand(["rekey"], { ...here.env, GANTRY_HOME: join(room, "nowhere") });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("secret-key does not exist")]);
    await here.drop();
  }, 60_000);
});

describe("gantry rekey with the key in the environment", () => {
  test("goes from GANTRY_SECRET_KEY to GANTRY_NEW_SECRET_KEY, refuses wrong keys, and can be repeated", async () => {
    const here = await place("environment");
    const [present, next, wrong] = [
      Buffer.from(await here.keyOf()).toString("base64"),
      Buffer.alloc(32, 1).toString("base64"),
      Buffer.alloc(32, 2).toString("base64"),
    ];
    const { database } = here;
    const before = await sealedNow(database);
    const rekey = (keys: [string, string?], ...flags: string[]) =>
      gantryCommand(["rekey", ...flags], {
        ...here.env,
        GANTRY_HOME: join(room, "unused"),
        GANTRY_SECRET_KEY: keys[0],
        ...(keys[1] !== undefined && { GANTRY_NEW_SECRET_KEY: keys[1] }),
      });
    for (const [keys, reason] of [
      [[present], "Set GANTRY_NEW_SECRET_KEY"],
      [[present, present], "already in use"],
      [[wrong, next], "is not the key of this database"],
      [[present, "short"], "GANTRY_NEW_SECRET_KEY must be 32 bytes"],
    ] as [[string, string?], string][]) {
      const refused = await rekey(keys);
      expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(reason)]);
    }
    expect(await sealedNow(database)).toEqual(before);

    const done = await rekey([present, next]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    expect(done.stdout).toContain("Set GANTRY_SECRET_KEY to the new key");
    expect(await here.openAll(createAesVault(Buffer.from(next, "base64")))).toEqual(here.before);
    expect(await isThere(join(room, "unused"))).toBe(false);
    const again = await rekey([present, next]);
    expect([again.code, again.stdout]).toEqual([
      0,
      expect.stringContaining(`Re-encrypted 0 secrets; ${sealedTexts} had`),
    ]);

    // A value that was unreadable before does not prevent the change, once confirmed.
    await database.sql`update secrets set sealed = '\\x01ff'`;
    const lost = await rekey([next, wrong]);
    expect([lost.code, lost.stderr]).toEqual([1, expect.stringContaining("(not 1 of secrets)")]);
    const told = await rekey([next, wrong], "--leave-unreadable");
    expect([told.code, told.stdout]).toEqual([0, expect.stringContaining("1 could not be decrypted")]);
    const [row] = await database.sql<{ sealed: Uint8Array }[]>`select sealed from secrets`;
    expect(Buffer.from(row?.sealed ?? []).toString("hex")).toBe("01ff");
    await here.drop();
  }, 90_000);
});

describe("gantry rekey with the embedded database", () => {
  test("is refused while its server runs; after it, the server reads its stored values", async () => {
    const home = join(room, "embedded");
    homes.push(home);
    const server = start({ GANTRY_HOME: home });
    const url = await server.url();
    const secretsOf = async (address: string) => (await call(address, "GET", "/api/v2/webhooks/secret")).json();
    const secrets = await secretsOf(url);
    expect((await call(url, "PUT", "/api/v2/secrets/openai", { value: "sk-1" })).status).toBe(201);
    const wanted = { balance_below: 1, budget_percent: 90, webhook: { url: "https://hooks.example.test/notices" } };
    const notices = await (await call(url, "PUT", "/api/v2/notices/settings", wanted)).json();
    expect(notices).toMatchObject({ webhook: { url: expect.stringContaining("hooks.example.test") } });
    const old = await readFile(join(home, "secret-key"), "utf8");
    const busy = await gantryCommand(["rekey"], { GANTRY_HOME: home });
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("Another Gantry is running")]);
    await stop(server);

    const done = await gantryCommand(["rekey"], { GANTRY_HOME: home });
    expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("Re-encrypted 3 secrets")]);
    expect(await readFile(join(home, "secret-key"), "utf8")).not.toBe(old);
    const again = start({ GANTRY_HOME: home });
    const moved = await again.url();
    expect(await secretsOf(moved)).toEqual(secrets);
    expect(await (await call(moved, "GET", "/api/v2/notices/settings")).json()).toEqual(notices);
    await stop(again);
    const nowhere = await gantryCommand(["rekey"], { GANTRY_HOME: join(room, "nothing-here") });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining("does not contain Gantry data")]);
  }, 90_000);
});
