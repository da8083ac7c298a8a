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
import { sealContext } from "../../src/features/connectors/idp/stored-connector.ts";
import { secretContext } from "../../src/features/runs/work/tool-calls.ts";
import { openSecrets } from "../../src/features/secrets/index.ts";
import { openServer, sealAuth } from "../../src/features/tool-servers/use-server.ts";
import { verificationContext } from "../../src/features/triggers/trigger.ts";
import { createSigningSecrets } from "../../src/features/webhooks/signing-secrets.ts";
import { openTarget, sealWebhook } from "../../src/features/webhooks/webhook.ts";
import { systemClock } from "../../src/kernel/clock.ts";
import { testDatabase } from "../support/database.ts";
import { gantryCommand, startCommand } from "../support/gantry-command.ts";
import { fillOAuth, openOAuth } from "../support/sealed-oauth.ts";
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

/** One value of each kind, sealed by the feature that owns it. */
async function fill(database: Database, vault: Vault, userId: string): Promise<void> {
  const secrets = openSecrets({ database, vault });
  await secrets.put(userId, "openai", "sk-of-a-model");
  const signing = createSigningSecrets({ database, vault, clock: systemClock });
  await signing.rotate(userId);
  const webhook = {
    url: "https://hooks.example.test/a",
    headers: { authorization: "of a receiver" },
    query_params: {},
  };
  for (const predictionId of ["pred_1", "pred_2"]) {
    const { destination, target } = sealWebhook(vault, { userId, predictionId }, webhook);
    if (predictionId === "pred_1")
      await database.sql`
        insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until, webhook_destination,
          webhook_target)
        values (${predictionId}, ${userId}, 'key_1', 'mdl_1', 'a/b', 'async', now() + interval '1 day', ${destination},
          ${target as Buffer})`;
    else
      await database.sql`
        insert into webhook_deliveries (id, user_id, prediction_id, model_name, destination, target, payload)
        values ('dlv_1', ${userId}, ${predictionId}, 'a/b', ${destination}, ${target as Buffer}, '{}')`;
  }
  // A prediction without a webhook and a tool server without a credential have nothing to open.
  await database.sql`
    insert into live_predictions (id, user_id, key_id, model_id, model_name, route, queue_until)
    values ('pred_3', ${userId}, 'key_1', 'mdl_1', 'a/b', 'async', now() + interval '1 day')`;
  const token = vault.seal("token-of-a-tenant", sealContext(userId, "tenant.example.test"));
  await database.sql`
    insert into idp_connectors (user_id, domain, sealed_token, token_last4)
    values (${userId}, 'tenant.example.test', ${token as Buffer}, 'nant')`;
  const ofRunWebhook = sealWebhook(vault, { userId, predictionId: "run_1" }, webhook);
  const ofNotices = sealWebhook(vault, { userId, predictionId: "notices" }, webhook);
  await database.sql`
    insert into notice_settings (user_id, webhook_destination, webhook_target)
    values (${userId}, ${ofNotices.destination}, ${ofNotices.target as Buffer})`;
  const trigger = vault.seal("of-a-sender", verificationContext(userId, "trg_1"));
  await database.sql`
    with agent as (
      insert into agents (id, owner_id, slug, visibility, latest_revision_id, created_at, updated_at)
      values ('agt_1', ${userId}, 'one', 'private', 'rev_1', now(), now())
    )
    insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at)
    values ('rev_1', 'agt_1', 1, 'draft', '{}', '[]', now())`;
  await database.sql`
    insert into runs (id, agent_id, revision_id, owner_id, user_id, key_id, input, timeout_ms, max_steps, base_url)
    values ('run_1', 'agt_1', 'rev_1', ${userId}, ${userId}, 'key_1', '{}', 1, 1, '')`;
  await database.sql`
    insert into run_webhooks (run_id, user_id, destination, target, events)
    values ('run_1', ${userId}, ${ofRunWebhook.destination}, ${ofRunWebhook.target as Buffer}, '{done}')`;
  await database.sql`
    insert into triggers (id, owner_id, agent_id, key_id, secret_hash, verification, verification_secret, enabled, overlap,
      approve, connectors)
    values ('trg_1', ${userId}, 'agt_1', 'key_1', '\\x00', '{"type":"github"}', ${trigger as Buffer}, true, 'parallel',
      '{}', '{}')`;
  const ofRun = vault.seal("made-by-a-tool", secretContext("run_1", "sec_1"));
  await database.sql`
    insert into run_secrets (id, run_id, field, sealed, expires_at)
    values ('sec_1', 'run_1', 'client_secret', ${ofRun as Buffer}, now() + interval '1 day')`;
  const place = { id: "mcp_1", ownerId: userId, url: "https://tools.example.test/mcp" };
  const auth = sealAuth({ vault } as Parameters<typeof sealAuth>[0], place, { type: "bearer", token: "of-a-server" });
  await database.sql`
    insert into tool_servers (id, owner_id, name, url, connection_type, auth_type, sealed_credential, status) values
      ('mcp_1', ${userId}, 'one', ${place.url}, 'sse', 'bearer', ${auth.sealedCredential as Buffer}, 'connected'),
      ('mcp_2', ${userId}, 'two', ${place.url}, 'sse', null, null, 'connected')`;
  await fillOAuth(database, vault, userId);
}

/** All values, opened by the features that own them. */
async function openAll(database: Database, vault: Vault, userId: string) {
  const { sql } = database;
  const signing = createSigningSecrets({ database, vault, clock: systemClock });
  const [live] = await sql<{ target: Uint8Array }[]>`
    select webhook_target as target from live_predictions where id = 'pred_1'`;
  const [delivery] = await sql<{ target: Uint8Array }[]>`select target from webhook_deliveries where id = 'dlv_1'`;
  const [connector] = await sql<{ token: Uint8Array }[]>`select sealed_token as token from idp_connectors`;
  const [ofRunWebhook] = await sql<{ target: Uint8Array }[]>`select target from run_webhooks`;
  const [ofNotices] = await sql<{ target: Uint8Array }[]>`select webhook_target as target from notice_settings`;
  const [trigger] = await sql<{ secret: Uint8Array }[]>`select verification_secret as secret from triggers`;
  const [ofRun] = await sql<{ sealed: Uint8Array }[]>`select sealed from run_secrets where id = 'sec_1'`;
  const [server] = await sql`
    select id, owner_id as "ownerId", revision, url, connection_type as "connectionType", auth_header as "authHeader",
      sealed_credential as "sealedCredential" from tool_servers where id = 'mcp_1'`;
  const context = { vault } as Parameters<typeof openServer>[0];
  return {
    secret: await openSecrets({ database, vault }).reveal(userId, "openai"),
    signing: signing.open((await signing.liveOf([userId])).get(userId) ?? []),
    live: openTarget(vault, { userId, predictionId: "pred_1" }, live?.target ?? new Uint8Array()),
    delivery: openTarget(vault, { userId, predictionId: "pred_2" }, delivery?.target ?? new Uint8Array()),
    connector: vault.open(connector?.token ?? new Uint8Array(), sealContext(userId, "tenant.example.test")),
    ofRunWebhook: openTarget(vault, { userId, predictionId: "run_1" }, ofRunWebhook?.target ?? new Uint8Array()),
    ofNotices: openTarget(vault, { userId, predictionId: "notices" }, ofNotices?.target ?? new Uint8Array()),
    trigger: vault.open(trigger?.secret ?? new Uint8Array(), verificationContext(userId, "trg_1")),
    ofRun: vault.open(ofRun?.sealed ?? new Uint8Array(), secretContext("run_1", "sec_1")),
    oauth: await openOAuth(database, vault, userId),
    server: openServer(context, server as unknown as Parameters<typeof openServer>[1]).target.header,
  };
}

/** One secret, two signing secrets, four targets, a token, a credential, secrets of a run and a trigger, four of OAuth. */
const sealedTexts = 15;

interface Place {
  database: Database;
  home: string;
  userId: string;
  env: Record<string, string>;
  keyOf(file?: string): Promise<Uint8Array>;
  before: Awaited<ReturnType<typeof openAll>>;
  openAll(vault: Vault): ReturnType<typeof openAll>;
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
  await fill(database, createAesVault(key), userId);
  return {
    database,
    home,
    userId,
    env: { DATABASE_URL: url, GANTRY_HOME: home },
    keyOf: async (file = "secret-key") => Buffer.from((await readFile(join(home, file), "utf8")).trim(), "base64"),
    before: await openAll(database, createAesVault(key), userId),
    openAll: (vault) => openAll(database, vault, userId),
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
