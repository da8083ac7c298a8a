import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, get, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { BlobStore } from "../../src/engines/blobs/blobs.ts";
import { openFilesystemBlobs } from "../../src/engines/blobs/filesystem.ts";
import { openS3Blobs } from "../../src/engines/blobs/s3.ts";
import { loadOrCreateSigningCredentials } from "../../src/engines/blobs/signing-credentials.ts";
import { connect, type Database, startEmbeddedDatabase } from "../../src/engines/database/index.ts";
import { createAesVault, loadSecretKey } from "../../src/engines/vault/aes-vault.ts";
import { verifyLedger } from "../../src/features/billing/index.ts";
import { openSecrets } from "../../src/features/secrets/index.ts";
import { testDatabaseUrl } from "../support/database.ts";
import { type GantryNode, startGantry } from "../support/gantry.ts";
import { testS3 } from "../support/s3.ts";
import { endEverything, type ServerProcess, startServer } from "./server-process.ts";

const cli = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** The command as an operator runs it, with only these settings. */
async function gantryCommand(args: string[], env: Record<string, string>) {
  const given = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env };
  return promisify(execFile)(process.execPath, [cli, ...args], { env: given }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code: Number(code), stdout: String(stdout), stderr: String(stderr) }),
  );
}

/**
 * A hash of each table's rows, independent of their order. Heartbeats always change, and the time at which a
 * migration was applied belongs to the database, not to its content. A restore adds its own audit record.
 */
async function hashesOf(database: Database): Promise<Record<string, string>> {
  const tables = await database.sql<{ name: string }[]>`
    select relname::text as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname not in ('nodes', 'schema_migrations', 'audit_chain')
    order by relname`;
  const hashes: Record<string, string> = {};
  for (const { name } of tables) {
    const [row] = await database.sql<{ rows: number; hash: string }[]>`
      select count(*)::int as rows, md5(coalesce(string_agg(t::text, '|' order by t::text collate "C"), '')) as hash
      from ${database.sql(name)} t where t::text not like '%installation.restore%'`;
    hashes[name] = `${row?.rows} rows ${row?.hash}`;
  }
  return hashes;
}

async function contentsOf(blobs: BlobStore): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const key of (await Array.fromAsync(blobs.keys())).sort()) {
    const opened = await blobs.open(key);
    const bytes = Buffer.concat((await opened?.body.toArray()) ?? []);
    contents.set(key, `${opened?.info.contentType} ${bytes.toString("base64")}`);
  }
  return contents;
}

const openHome = async (home: string) =>
  openFilesystemBlobs({ home, bucket: "gantry", credentials: await loadOrCreateSigningCredentials(home) });

let scratch: string;
let source: GantryNode;
let receiver: Server;
let annaKey: string;
let pictureId: string;
let pictureLink: string;
let queuedId: string;
let backupFile: string;
let expected: Record<string, string>;
let expectedBlobs: Map<string, string>;
const servers: ServerProcess[] = [];
const homes: string[] = [];
const delivered: string[] = [];

const newHome = (name: string): string => {
  const home = join(scratch, name);
  homes.push(home);
  return home;
};

async function must(answer: Promise<{ status: number; text: string; body: unknown }>, ...statuses: number[]) {
  const { status, text, body } = await answer;
  expect(statuses, text).toContain(status);
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
  return body as any;
}

/** An installation with rows in every table that users can fill. */
async function fill(): Promise<void> {
  const { port } = receiver.address() as AddressInfo;
  annaKey = await source.newUser("anna", { credit: 5, key: { monthly_limit: 3, name: "main" } });
  await source.newUser("bert", { plan: "free", credit: 0.001 });
  const anna = { key: annaKey };
  // A key with a limit can run models but not create them.
  const wide = await must(source.call("POST", "/api/v2/admin/users/anna/keys", { json: { name: "wide" } }), 201);
  const owner = { key: String(wide.key) };
  await must(source.call("PUT", "/api/v2/secrets/openai", { ...owner, json: { value: 'sk-secret \\ " ,()' } }), 201);
  const manifest = {
    title: 'Odd, "text" (1)\\\n',
    description: "é日🙂 \u0001",
    kind: "other",
    visibility: "private",
    capacity: 2,
    pricing: { per_request: 0.01 },
    input: { type: "object", properties: { prompt: { type: "string" } }, required: ["prompt"] },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: `http://127.0.0.1:${port}/cog`, secret: "openai" },
  };
  await must(source.call("PUT", "/api/v1/anna/odd", { ...owner, json: manifest }), 201);
  const picture = await must(
    source.call("POST", "/api/v1/gantry/image/predict", { ...anna, form: { prompt: "a lake", size: "1280x720" } }),
    200,
  );
  pictureId = picture.prediction_id;
  const [pictureFile] = Object.values(picture.files ?? {}) as { url: string }[];
  pictureLink = pictureFile?.url ?? "";
  await must(source.call("POST", "/api/v1/gantry/text/predict/stream/", { ...anna, form: { prompt: "hello" } }), 200);
  const upload = { file: new File(["a,b\n1,2\n"], "täble.csv") };
  await must(source.call("POST", "/api/v1/gantry/image/upload_file", { ...anna, form: upload }), 200);
  await must(source.call("GET", "/api/v1/gantry/image/upload_url?filename=later.png", anna), 200);
  await must(source.call("GET", "/api/v2/webhooks/secret", anna), 200);
  await must(source.call("POST", "/api/v2/webhooks/secret/rotate", anna), 200, 201);
  const spare = await must(source.call("POST", "/api/v2/keys", { json: { name: "spare" } }), 201);
  await must(source.call("POST", `/api/v2/keys/${spare.id}/rotate`, { json: { grace_seconds: 86_400 } }), 200);
  // Without workers both stay queued: one with a file, one with a webhook.
  const webhook = JSON.stringify({ url: `http://127.0.0.1:${port}/hook` });
  const queued = await must(
    source.call("POST", "/api/v1/gantry/image/predict/async/", {
      ...anna,
      form: { prompt: "a tower", size: "1280x720", webhook },
      headers: { "idempotency-key": "once" },
    }),
    200,
  );
  queuedId = queued.prediction_id;
}

/** Rows of a running server keep changing: retry until a backup falls into a quiet moment. */
async function backUpAtRest(path: string, env: Record<string, string>): Promise<Record<string, string>> {
  for (let attempt = 1; ; attempt++) {
    const before = await hashesOf(source.database);
    const made = await gantryCommand(["backup", path], env);
    expect(made.code, made.stderr).toBe(0);
    if (JSON.stringify(await hashesOf(source.database)) === JSON.stringify(before)) return before;
    if (attempt === 10) throw new Error("the database never came to rest");
    await rm(path);
  }
}

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "gantry-backup-"));
  receiver = createServer((request, response) => {
    request.resume().on("end", () => {
      if (request.url === "/hook") delivered.push(String(request.headers["webhook-id"]));
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  source = await startGantry({ env: { GANTRY_ROLE: "api" } });
  await fill();
  backupFile = join(scratch, "backup.tar");
  expected = await backUpAtRest(backupFile, { DATABASE_URL: source.databaseUrl, GANTRY_HOME: source.home });
  const blobs = await openHome(source.home);
  expectedBlobs = await contentsOf(blobs);
  await blobs.close();
}, 120_000);

afterAll(async () => {
  await endEverything(servers, homes);
  await source?.close();
  receiver.close();
  await rm(scratch, { recursive: true, force: true });
}, 60_000);

describe("a backup", () => {
  test("contains all kinds of data and is readable only by its owner", async () => {
    for (const table of ["users", "api_keys", "retired_key_pairs", "secrets", "files", "ledger", "usage"]) {
      expect(expected[table]).not.toMatch(/^0 rows/);
    }
    for (const table of [
      "live_predictions",
      "ended_predictions",
      "idempotency_keys",
      "webhook_secrets",
      "key_months",
    ]) {
      expect(expected[table]).not.toMatch(/^0 rows/);
    }
    expect(expectedBlobs.size).toBeGreaterThanOrEqual(2);
    expect((await stat(backupFile)).mode & 0o777).toBe(0o600);
    // Any tar reads it.
    const { stdout } = await promisify(execFile)("tar", ["-tf", backupFile]);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining(["backup.json", "keys/secret-key", "tables/users/1.json"]),
    );
    expect(stdout.trim().endsWith("end.json")).toBe(true);
  });

  test("is named by its date in a folder, can leave out files and keys, and never overwrites a file", async () => {
    const env = { DATABASE_URL: source.databaseUrl, GANTRY_HOME: source.home };
    const folder = join(scratch, "kept");
    await mkdir(folder);
    const small = await gantryCommand(["backup", folder, "--no-files", "--no-keys"], env);
    expect(small.stdout).toMatch(/kept\/gantry-\d{4}-\d\d-\d\dT\d{6}Z\.tar: \d+ rows of \d+ tables, no files\n/);
    expect(small.stdout).toContain("does not contain the key");
    const again = await gantryCommand(["backup", backupFile], env);
    expect([again.code, again.stderr]).toEqual([1, `${backupFile} already exists\n`]);
    const nightly = join(scratch, "nightly");
    for (const folderName of [`${nightly}/`, `${nightly}/.`, `${nightly}/../nightly/`]) {
      const missing = await gantryCommand(["backup", folderName, "--no-files"], env);
      expect([missing.code, missing.stderr]).toEqual([1, `Folder ${nightly} does not exist. Create it first.\n`]);
    }
    expect(await stat(nightly).catch(({ code }) => code)).toBe("ENOENT");
    const apart = await gantryCommand(["backup", join(nightly, "x.tar"), "--no-files"], env);
    expect([apart.code, apart.stderr]).toEqual([1, `Folder ${nightly} does not exist. Create it first.\n`]);
    const there = await gantryCommand(["backup", `${folder}/`, "--no-files", "--json"], env);
    const path = expect.stringMatching(/kept\/gantry-[^/]*\.tar$/);
    expect(JSON.parse(there.stdout)).toMatchObject({ path, files: 0, missing: [], keys: expect.any(Array) });
    const nowhere = await gantryCommand(["backup", join(scratch, "x.tar")], { GANTRY_HOME: join(scratch, "no-home") });
    expect(nowhere.stderr).toContain("does not contain Gantry data");
  }, 60_000);

  test("that is damaged, truncated or not a backup is refused before anything changes", async () => {
    const whole = await readFile(backupFile);
    const flipped = Buffer.from(whole);
    const at = whole.indexOf("tables/users/1.json") + 700;
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    const wrong: [Buffer, string][] = [
      [flipped, "damaged"],
      [whole.subarray(0, whole.length >> 1), "ends too early"],
      [Buffer.concat([whole.subarray(0, whole.lastIndexOf("end.json")), Buffer.alloc(1024)]), "incomplete"],
      [Buffer.from("hello".repeat(1000)), "not an archive"],
    ];
    const home = newHome("untouched");
    const url = await testDatabaseUrl();
    const database = connect({ url, poolSize: 1 });
    const before = await hashesOf(database);
    for (const [bytes, reason] of wrong) {
      const file = join(scratch, "wrong.tar");
      await writeFile(file, bytes);
      const refused = await gantryCommand(["restore", file], { GANTRY_HOME: home, DATABASE_URL: url });
      expect(refused.code).toBe(1);
      expect(refused.stderr).toContain(reason);
    }
    expect(await hashesOf(database)).toEqual(before);
    await database.close();
  }, 60_000);
});

describe("restored into an empty home", () => {
  let home: string;
  let restored: Awaited<ReturnType<typeof gantryCommand>>;

  beforeAll(async () => {
    home = newHome("restored");
    restored = await gantryCommand(["restore", backupFile], { GANTRY_HOME: home });
  }, 120_000);

  test("it is the same, row by row and byte by byte, under a role without superuser rights", async () => {
    expect(restored.code, restored.stderr).toBe(0);
    expect(restored.stdout).toMatch(/The ledger is correct: \d+ accounts, sum 0\n$/);
    // The server that the backup was taken of runs elsewhere.
    const again = await gantryCommand(["restore", backupFile], { GANTRY_HOME: home });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("not empty")]);
    const database = await startEmbeddedDatabase({ home });
    try {
      expect(await hashesOf(database)).toEqual(expected);
      expect(await verifyLedger(database)).toEqual([]);
      const [role] = await database.sql`select rolsuper as super from pg_roles where rolname = current_user`;
      expect(role?.super).toBe(false);
      // Constraints are enforced again.
      await expect(database.sql`delete from ledger`.execute()).rejects.toThrow("append-only");
      await expect(database.sql`delete from users`.execute()).rejects.toThrow("foreign key");
      // Restored keys open restored credentials.
      const vault = createAesVault(await loadSecretKey(home, undefined));
      const [anna] = await database.sql<{ id: string }[]>`select id from users where username = 'anna'`;
      const secrets = openSecrets({ database, vault });
      expect(await secrets.reveal(String(anna?.id), "openai")).toBe('sk-secret \\ " ,()');
      // Sequences continue.
      const [next] = await database.sql<{ next: number; most: number }[]>`
        select nextval(pg_get_serial_sequence('ledger', 'id')) as next, (select max(id) from ledger) as most`;
      expect(next?.next).toBeGreaterThan(next?.most ?? Number.POSITIVE_INFINITY);
    } finally {
      await database.close();
    }
    const blobs = await openHome(home);
    expect(await contentsOf(blobs)).toEqual(expectedBlobs);
    await blobs.close();
    for (const name of ["secret-key", "link-signing-key.json"]) {
      expect(await readFile(join(home, name), "utf8")).toBe(await readFile(join(source.home, name), "utf8"));
      expect((await stat(join(home, name))).mode & 0o777).toBe(0o600);
    }
  }, 60_000);

  test("a server starts on it, accepts old keys, returns old results and finishes queued work", async () => {
    const server = startServer({ GANTRY_HOME: home, GANTRY_ALLOW_PRIVATE_NETWORK: "1" });
    servers.push(server);
    const url = await server.url();
    const read = async (path: string, key = annaKey) => {
      const answer = await fetch(url + path, { headers: { "x-api-key": key } });
      return JSON.parse(await answer.text());
    };
    expect(await read("/api/v2/me")).toMatchObject({ username: "anna" });
    const resultOf = async (id: string) =>
      (await read(`/api/v1/gantry/image/predict/async/result/?request_id=${id}&wait=30`)).inference_responses[0];
    const old = await resultOf(pictureId);
    expect(old.infer_details.status).toBe(200);
    const [file] = Object.values(old.files) as { url: string }[];
    const picture = await fetch(file?.url.replace(/^http:\/\/[^/]+/, url) ?? "");
    expect(picture.status).toBe(200);
    expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(10_000);
    // A link issued earlier keeps working when this server takes over the old address.
    const { host } = new URL(source.url);
    const [answer] = await once(get(pictureLink.replace(source.url, url), { headers: { host } }), "response");
    expect([pictureLink.startsWith(source.url), answer.resume().statusCode]).toEqual([true, 200]);
    expect((await resultOf(queuedId)).infer_details.status).toBe(200);
    await expect.poll(() => delivered.length, { timeout: 15_000 }).toBe(1);

    // Verify the ledger through the running server and with the command.
    const through = await gantryCommand(["ledger", "verify", "--url", url, "--key", source.adminKey], {});
    expect(through.stdout).toMatch(/^The ledger is correct: \d+ accounts, sum 0\n$/);
    const beside = await gantryCommand(["ledger", "verify"], { GANTRY_HOME: home });
    expect([beside.code, beside.stdout]).toEqual([0, through.stdout]);
    const notAdmin = await gantryCommand(["ledger", "verify"], { GANTRY_URL: url, GANTRY_KEY: annaKey });
    expect([notAdmin.code, notAdmin.stdout]).toEqual([2, ""]);
    // Back up while the server runs.
    const online = await gantryCommand(["backup", join(scratch, "online.tar")], { GANTRY_HOME: home });
    expect(online.code, online.stderr).toBe(0);
    const busy = await gantryCommand(["restore", backupFile, "--replace"], { GANTRY_HOME: home });
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("Another Gantry is running")]);

    server.kill("SIGTERM");
    expect(await server.exit).toMatchObject({ code: 0 });
  }, 120_000);

  test("it is overwritten only with --replace, and then equals the backup again", async () => {
    const refused = await gantryCommand(["restore", backupFile], { GANTRY_HOME: home });
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("not empty")]);
    const told = await gantryCommand(["restore", backupFile, "--replace"], { GANTRY_HOME: home });
    expect(told.code, told.stderr).toBe(0);
    const database = await startEmbeddedDatabase({ home });
    expect(await hashesOf(database)).toEqual(expected);
    await database.close();
  }, 120_000);
});

describe("restored into external engines", () => {
  const s3Bucket = "gantry-elsewhere";

  test("from embedded ones, files move and their addresses change", async ({ skip }) => {
    const s3 = await testS3();
    if (!s3) return skip("NOT TESTED: S3 is missing");
    try {
      const url = await testDatabaseUrl();
      const env = {
        GANTRY_HOME: newHome("external"),
        DATABASE_URL: url,
        S3_ENDPOINT: s3.endpoint,
        S3_BUCKET: s3Bucket,
        S3_REGION: s3.region,
        S3_ACCESS_KEY_ID: s3.accessKeyId,
        S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
      };
      const restored = await gantryCommand(["restore", join(scratch, "online.tar")], env);
      expect(restored.code, restored.stderr).toBe(0);
      const blobs = await openS3Blobs({ ...s3, bucket: s3Bucket });
      const there = await contentsOf(blobs);
      await blobs.close();
      for (const [key, content] of expectedBlobs) {
        if (!key.startsWith("inputs/")) expect(there.get(key)).toBe(content);
      }
      const server = startServer({ ...env, GANTRY_ALLOW_PRIVATE_NETWORK: "1" });
      servers.push(server);
      const answer = await fetch(
        `${await server.url()}/api/v1/gantry/image/predict/async/result/?request_id=${pictureId}`,
        { headers: { "x-api-key": annaKey } },
      );
      const [item] = ((await answer.json()) as { inference_responses: Record<string, object>[] }).inference_responses;
      expect(Object.values(item?.response ?? {})[0]).toMatch(new RegExp(`^s3://${s3Bucket}/outputs/`));
      const [file] = Object.values(item?.files ?? {}) as { url: string }[];
      expect(file?.url.startsWith(s3.endpoint)).toBe(true);
      expect((await fetch(file?.url ?? "")).status).toBe(200);
      // A running server is not overwritten.
      const busy = await gantryCommand(["restore", backupFile, "--replace"], env);
      expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("A server is running on this database")]);
    } finally {
      await s3.stop();
    }
  }, 120_000);
});

describe("gantry ledger verify", () => {
  test("lists broken rules and exits with 1, or with 2 when the database has no tables", async () => {
    const url = await testDatabaseUrl();
    const database = connect({ url, poolSize: 1 });
    await database.sql`
      insert into users (id, username, role, plan, created_at) values ('usr_w', 'wanda', 'user', 'free', now())`;
    await database.sql`insert into wallets (user_id, reserved_micros) values ('usr_w', 5)`;
    await database.close();
    const wrong = await gantryCommand(["ledger", "verify"], { DATABASE_URL: url });
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toBe(
      "The ledger is not correct: 1 accounts, sum 0\n  wallet_reserved usr_w: expected 0, found 5\n",
    );
    const empty = connect({ url, poolSize: 1 });
    await empty.sql`drop schema public cascade`;
    await empty.sql`create schema public`;
    await empty.close();
    const nothing = await gantryCommand(["ledger", "verify"], { DATABASE_URL: url });
    expect([nothing.code, nothing.stderr]).toEqual([2, "This database does not contain Gantry tables\n"]);
    const unsaid = await gantryCommand(["ledger"], { DATABASE_URL: url });
    expect([unsaid.code, unsaid.stderr]).toEqual([2, expect.stringContaining("gantry ledger verify ")]);
  }, 60_000);
});
