import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../../src/engines/database/index.ts";
import { testDatabase } from "../../support/database.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** Unusual settings that an operator or another program may have made. */
const unusual = {
  TimeZone: "Asia/Kolkata",
  DateStyle: "SQL, DMY",
  IntervalStyle: "sql_standard",
  bytea_output: "escape",
  extra_float_digits: "-15",
  standard_conforming_strings: "off",
  array_nulls: "off",
  default_transaction_isolation: "serializable",
  synchronous_commit: "off",
  statement_timeout: "900",
  transaction_timeout: "900",
  lock_timeout: "1",
  idle_session_timeout: "50",
  idle_in_transaction_session_timeout: "50",
};

let own: Awaited<ReturnType<typeof testDatabase>>;
let gantry: GantryNode;
beforeAll(async () => {
  own = await testDatabase();
  const name = new URL(own.url).pathname.slice(1);
  for (const [setting, value] of Object.entries(unusual)) {
    await own.database.sql.unsafe(`alter database ${name} set ${setting} = '${value}'`);
  }
  gantry = await startGantry({ env: { DATABASE_URL: own.url } });
});
afterAll(async () => {
  await gantry.close();
  await own.drop();
});

test("settings of the role or the database do not change answers", async () => {
  const key = await gantry.newUser("anna");
  const manifest = {
    title: "Mine",
    description: "Of anna.",
    kind: "other",
    visibility: "private",
    capacity: 2,
    input: { type: "object", properties: { prompt: { type: "string" } } },
    output: { type: "object", properties: { output: { type: "string" } } },
    backend: { type: "cog", url: "http://127.0.0.1:9/" },
  };
  const put = await gantry.call("PUT", "/api/v1/anna/mine", { key, json: manifest });
  expect(put.status, put.text).toBe(201);
  const predict = () =>
    gantry
      .call("POST", "/api/v1/gantry/rules/predict", { key, form: { prompt: "Hello" } })
      .then(({ status }) => status);
  for (let round = 0; round < 5; round++) {
    expect(new Set(await Promise.all(Array.from({ length: 40 }, predict)))).toEqual(new Set([200]));
  }
  expect(gantry.logged()).not.toMatch(/"level":(40|50|60)/);
}, 60_000);

test("every connection has the required settings; replication settings stay unchanged", async () => {
  const read = async (): Promise<Record<string, string>> => {
    const database = connect({ url: own.url, poolSize: 1 });
    const names = Object.keys(unusual);
    const rows = await database.sql<{ name: string; value: string }[]>`
      select name, current_setting(name) as value from unnest(${names}::text[]) name`;
    await database.close();
    return Object.fromEntries(rows.map(({ name, value }) => [name, value]));
  };
  expect(await read()).toEqual({
    TimeZone: "UTC",
    DateStyle: "ISO, MDY",
    IntervalStyle: "postgres",
    bytea_output: "hex",
    extra_float_digits: "1",
    standard_conforming_strings: "on",
    array_nulls: "on",
    default_transaction_isolation: "read committed",
    synchronous_commit: "on",
    statement_timeout: "0",
    transaction_timeout: "0",
    lock_timeout: "0",
    idle_session_timeout: "0",
    idle_in_transaction_session_timeout: "1min",
  });
  const name = new URL(own.url).pathname.slice(1);
  await own.database.sql.unsafe(`alter database ${name} set synchronous_commit = 'remote_apply'`);
  expect(await read()).toMatchObject({ synchronous_commit: "remote_apply" });
});
