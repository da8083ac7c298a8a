import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { connect, type Database, migrate } from "../../src/engines/database/index.ts";
import { createAesVault, loadSecretKey } from "../../src/engines/vault/aes-vault.ts";
import { openSecrets } from "../../src/features/secrets/index.ts";
import { ownSchema } from "../support/database.ts";
import { gantryCommand } from "../support/gantry-command.ts";

/** A database shared with other programs, owned by a role without superuser rights. */
interface Place {
  database: Database;
  home: string;
  env: { DATABASE_URL: string; GANTRY_HOME: string };
}

let scratch: string;
let admin: Database;
const role = `gan_${randomBytes(6).toString("hex")}`;
const places: Place[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "gantry-shared-"));
  admin = connect({ url: `${inject("postgresUrl")}/postgres`, poolSize: 1, deadlineMs: 60_000 });
  await admin.sql.unsafe(`create role ${role} login password 'test'`);
});
afterAll(async () => {
  for (const { database, env } of places) {
    await database.close();
    await admin.sql.unsafe(`drop database ${new URL(env.DATABASE_URL).pathname.slice(1)} with (force)`);
  }
  await admin.sql.unsafe(`drop role ${role}`);
  await admin.close();
  await rm(scratch, { recursive: true, force: true });
}, 60_000);

async function emptyPlace(prepare: (name: string) => string): Promise<Place> {
  const name = `shared_${randomBytes(6).toString("hex")}`;
  await admin.sql.unsafe(`create database ${name} owner ${role}`);
  const url = new URL(`${inject("postgresUrl")}/${name}`);
  url.username = role;
  const first = connect({ url: url.href, poolSize: 1 });
  await first.sql.unsafe(prepare(name));
  await first.close(); // the prepared settings apply to new connections
  const home = join(scratch, name);
  const place = {
    database: connect({ url: url.href, poolSize: 2 }),
    home,
    env: { DATABASE_URL: url.href, GANTRY_HOME: home },
  };
  places.push(place);
  return place;
}

async function install(place: Place): Promise<void> {
  const { database, home } = place;
  await migrate(database, ownSchema);
  await database.sql`
    insert into users (id, username, role, plan, created_at) values ('usr_a', 'anna', 'user', 'free', now())`;
  await database.sql`insert into wallets (user_id) values ('usr_a')`;
  const vault = createAesVault(await loadSecretKey(home, undefined));
  await openSecrets({ database, vault }).put("usr_a", "secret", "of anna");
}

const usersOf = ({ database }: Place) => database.sql`select username from users`.then(([...rows]) => rows);

async function succeed(args: string[], { env }: Place) {
  const done = await gantryCommand(args, env);
  expect(done.code, done.stderr).toBe(0);
  return done;
}

describe.each([
  ["named as the role", () => `create schema authorization ${role}`],
  [
    "that the search path names",
    (name: string) => `create schema app; alter role ${role} in database ${name} set search_path = app, public`,
  ],
])("tables in a schema %s", (_, prepare) => {
  test("are found by every command", async () => {
    const [from, to, archive] = [
      await emptyPlace(prepare),
      await emptyPlace(prepare),
      join(scratch, `${Math.random()}`),
    ];
    await install(from);
    const made = await succeed(["backup", archive], from);
    expect(made.stdout).not.toContain("0 rows");
    await succeed(["ledger", "verify"], from);
    expect((await succeed(["rekey"], from)).stdout).toContain("1 ");
    await succeed(["restore", archive], to);
    expect(await usersOf(to)).toEqual([{ username: "anna" }]);
    await succeed(["restore", archive, "--replace"], to);
    const strays = await to.database.sql`
      select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')`;
    expect([...strays]).toEqual([]);
  }, 60_000);

  test("that do not exist cannot be backed up", async () => {
    const [place, archive] = [await emptyPlace(prepare), join(scratch, `${Math.random()}`)];
    expect(await gantryCommand(["backup", archive], place.env)).toMatchObject({
      code: 1,
      stderr: "This database does not contain Gantry tables\n",
    });
  }, 30_000);
});

/** A table with a foreign key into ours, a partitioned one, and one with a sequence. */
const others = `
  create table other_app (id int generated always as identity, user_id text references users, note text);
  create table other_parts (day date) partition by range (day);
  create table other_parts_1 partition of other_parts for values from ('2026-01-01') to ('2027-01-01');
  create sequence other_numbers`;
const saying = "Tables of other programs were skipped: other_app, other_parts\n";

describe("tables of other programs", () => {
  test("are not backed up, survive a restore, and the output says so", async () => {
    const [here, elsewhere, archive] = [
      await emptyPlace(() => "select 1"),
      await emptyPlace(() => "create table other_app (note text)"),
      join(scratch, "beside-others.tar"),
    ];
    await install(here);
    const { sql } = here.database;
    await sql.unsafe(others);
    await sql`insert into other_app (user_id, note) values ('usr_a', 'of before')`;
    expect((await succeed(["backup", archive], here)).stderr).toBe(saying);
    await sql`insert into other_app (user_id, note) values ('usr_a', 'of after')`;
    await sql`insert into other_parts values ('2026-05-01')`;
    await sql`select nextval('other_numbers') from generate_series(1, 5)`;
    await sql`update users set username = 'bert'`;
    await succeed(["restore", archive, "--replace"], here);
    expect(await usersOf(here)).toEqual([{ username: "anna" }]);
    expect([...(await sql`select id, note from other_app order by id`)]).toEqual([
      { id: 1, note: "of before" },
      { id: 2, note: "of after" },
    ]);
    expect([...(await sql`select count(*)::int as n, nextval('other_numbers') as next from other_parts`)]).toEqual([
      { n: 1, next: 6 },
    ]);
    // Its foreign key into our table exists again.
    await expect(sql`insert into other_app (user_id) values ('usr_nobody')`.execute()).rejects.toThrow("foreign key");

    await succeed(["restore", archive], elsewhere);
    expect(await usersOf(elsewhere)).toEqual([{ username: "anna" }]);
  }, 60_000);
});
