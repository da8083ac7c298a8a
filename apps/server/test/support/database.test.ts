import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "../../src/engines/database/index.ts";
import { testDatabase } from "./database.ts";

let a: Awaited<ReturnType<typeof testDatabase>>;
let b: Awaited<ReturnType<typeof testDatabase>>;

beforeAll(async () => {
  [a, b] = await Promise.all([testDatabase(), testDatabase()]);
});

afterAll(async () => {
  await Promise.all([a.drop(), b.drop()]);
});

const migrationCount = async ({ sql }: Database): Promise<number> =>
  (await sql<{ count: number }[]>`select count(*) from schema_migrations`)[0]?.count ?? -1;

test("every test database is fresh, migrated and separate", async () => {
  expect(a.url).not.toBe(b.url);
  expect(await migrationCount(a.database)).toBe(await migrationCount(b.database));
  await a.database.sql`create table only_here (id int)`;
  await expect(b.database.sql`select * from only_here`).rejects.toMatchObject({ code: "42P01" });
});
