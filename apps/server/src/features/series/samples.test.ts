import { afterAll, beforeAll, expect, it } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import type { Database } from "../../engines/database/database.ts";
import { deleteOldSamples, insertSample } from "./samples.ts";

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  ({ database, drop } = await testDatabase());
});
afterAll(() => drop());

const count = async (): Promise<number> => {
  const [row] = await database.sql<[{ n: number }]>`select count(*)::int as n from service_samples`;
  return row.n;
};

it("any number of nodes write one sample a minute, with the load of all models", async () => {
  await database.sql`insert into model_slots (model_id, running, waiting) values ('mdl_a', 2, 5), ('mdl_b', 1, 0)`;
  await Promise.all(Array.from({ length: 5 }, () => insertSample(database.sql)));
  // The minute may end between two of them.
  expect(await count()).toBeLessThanOrEqual(2);
  const [sample] =
    await database.sql`select waiting, running, nodes, at = date_trunc('minute', at) as whole from service_samples`;
  expect(sample).toEqual({ waiting: 5, running: 3, nodes: 0, whole: true });
});

it("old samples are deleted in batches", async () => {
  await database.sql`truncate service_samples`;
  await database.sql`insert into service_samples select now() - n * interval '1 day', 1, 1, 1 from generate_series(0, 40) n`;
  const before = new Date(Date.now() - 30 * 86_400_000);
  expect(await deleteOldSamples(database.sql, before, 4)).toBe(4);
  expect(await deleteOldSamples(database.sql, before, 100)).toBe(7);
  expect(await count()).toBe(30);
});
