import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { connect, type Database } from "../../../src/engines/database/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { gantryCommand } from "../../support/gantry-command.ts";

/** Name of both the role and the database. */
const name = `app_${randomBytes(4).toString("hex")}`;
let superuser: Database;
let gantry: GantryNode;

beforeAll(async () => {
  const server = inject("postgresUrl");
  const admin = connect({ url: `${server}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  await admin.sql.unsafe(`create role ${name} login password 'test'`);
  await admin.sql.unsafe(`create database ${name} owner ${name}`);
  await admin.close();
  superuser = connect({ url: `${server}/${name}`, poolSize: 1 });
  const DATABASE_URL = `${server.replace("postgres:test@", `${name}:test@`)}/${name}`;
  gantry = await startGantry({ env: { DATABASE_URL } });
}, 60_000);
afterAll(async () => {
  await gantry.close();
  await superuser.close();
});

const readiness = async () => {
  const { status, body } = await gantry.call("GET", "/readyz");
  return [status, body];
};
const predict = () => gantry.call("POST", "/api/v1/gantry/rules/predict/async/", { form: { prompt: "Hello" } });
const servesAgain = async () => {
  await expect.poll(readiness, { timeout: 10_000 }).toMatchObject([200, {}]);
  await expect.poll(async () => (await predict()).status, { timeout: 10_000 }).toBe(200);
};

test("a role that lost its rights is reported, and the server recovers when they return", async () => {
  expect((await predict()).status).toBe(200);
  await superuser.sql.unsafe(`revoke all on all tables in schema public from ${name}`);
  const reason = "The database role lacks privileges on its tables or schema.";
  expect(await readiness()).toEqual([503, { status: "not ready", reason }]);
  expect(await gantryCommand(["status", "--url", gantry.url], {})).toEqual({
    code: 1,
    stdout: `${gantry.url} is up but not ready: ${reason}\n`,
    stderr: "",
  });
  const refused = await predict();
  expect([refused.status, refused.headers.get("x-service-retryable"), refused.body.detail[0]]).toMatchObject([
    503,
    "true",
    { msg: "The database role lacks privileges on its tables or schema." },
  ]);
  await superuser.sql.unsafe(`grant all on all tables in schema public to ${name}`);
  await servesAgain();
}, 40_000);

test.each([
  ["nologin", "login", "The database refuses the login. Check its role, password and access rules."],
  ["connection limit 0", "connection limit -1", "The database has no free connections."],
])(
  "the reason why a role gets no connection is reported: %s",
  async (taken, given, reason) => {
    await superuser.sql.unsafe(`alter role ${name} ${taken}`);
    await superuser.sql`select pg_terminate_backend(pid) from pg_stat_activity where usename = ${name}`;
    await expect.poll(readiness, { timeout: 10_000 }).toEqual([503, { status: "not ready", reason }]);
    await superuser.sql.unsafe(`alter role ${name} ${given}`);
    await servesAgain();
  },
  40_000,
);
