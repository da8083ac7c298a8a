import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { connect } from "../../src/engines/database/index.ts";
import { testDatabase } from "../support/database.ts";
import { startServer } from "./server-process.ts";

/** A failed start must name the cause, because the operator sees nothing else. */
let room: string;
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), "gantry-refusals-"));
});
afterAll(() => rm(room, { recursive: true, force: true }));

test("a role with too low a connection limit", async () => {
  const server = inject("postgresUrl");
  const admin = connect({ url: `${server}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  const name = `limited_${process.pid}`;
  await admin.sql.unsafe(`create role ${name} login password 'limited' connection limit 1`);
  await admin.sql.unsafe(`create database ${name} owner ${name}`);
  try {
    const url = new URL(`${server}/${name}`);
    url.username = name;
    url.password = "limited";
    const refused = startServer({ DATABASE_URL: url.toString(), GANTRY_HOME: join(room, "limited") });
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(new RegExp(`^The database .+ too many connections for role "${name}"\n$`));
  } finally {
    await admin.sql.unsafe(`drop database ${name} with (force)`);
    await admin.sql.unsafe(`drop role ${name}`);
    await admin.close();
  }
}, 60_000);

test("a read-only database, such as a standby", async () => {
  const { url, database, drop } = await testDatabase();
  try {
    const name = new URL(url).pathname.slice(1);
    await database.sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`);
    const refused = startServer({ DATABASE_URL: url, GANTRY_HOME: join(room, "read-only") });
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(/^The database is read-only\. Nothing can be stored\. cannot .+\n$/);
  } finally {
    await drop();
  }
}, 60_000);

test("files in a folder while running servers use a bucket", async () => {
  const { url, database, drop } = await testDatabase();
  try {
    await database.sql`insert into nodes (id, file_store, heartbeat_at)
      values ('node_other', 's3://shared', now() + interval '5 minutes')`;
    await database.sql`
      insert into files (key, id, owner_id, origin, state, content_type, size, etag, max_bytes, created_at, stored_at)
      values ('uploads/a', 'file_a', 'usr_a', 'uploaded', 'stored', 'text/plain', 1, 'e', 1, now(), now())`;
    const refused = startServer({ DATABASE_URL: url, GANTRY_HOME: join(room, "folder") });
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    expect(refused.stderr()).toMatch(/^Another server .+ stores files in s3:\/\/shared; .+ S3_BUCKET .+\n$/);
    expect(refused.stdout()).toContain("The newest file in the database is not in the file store");
    expect(await database.sql`select id from nodes`).toEqual([{ id: "node_other" }]);
  } finally {
    await drop();
  }
}, 60_000);

test("a misspelt setting and an overridden one, together with the fatal one", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  try {
    const { port } = taken.address() as AddressInfo;
    const refused = startServer({
      PORT: String(port),
      GANTRY_PORT: "4240",
      GANTRY_ALOW_PRIVATE_NETWORK: "1",
      ANTHROPIC_API_KEY: "sk-ant-1",
      GANTRY_LLM_URL: "http://llm.test/v1",
      GANTRY_HOME: join(room, "misspelt"),
    });
    expect(await refused.exit).toEqual({ code: 1, signal: null });
    const warnings = refused.stdout().trim().split("\n");
    expect(warnings.map((line) => JSON.parse(line).msg)).toEqual([
      "Unknown setting GANTRY_PORT. Did you mean PORT?",
      "Unknown setting GANTRY_ALOW_PRIVATE_NETWORK. Did you mean GANTRY_ALLOW_PRIVATE_NETWORK?",
      expect.stringMatching(/^GANTRY_LLM_URL is ignored.+: anthropic\/default uses the Anthropic API\./),
    ]);
  } finally {
    taken.close();
  }
}, 60_000);
