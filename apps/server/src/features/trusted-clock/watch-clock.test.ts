import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createLog } from "../../kernel/log.ts";
import { watchClock } from "./index.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let logged = "";
const log = createLog("info", { write: (line: string) => (logged += line) });
const watch = () => watchClock({ database: own.database, log });
const lines = (text: string) => logged.split("\n").filter((line) => line.includes(text)).length;

beforeAll(async () => {
  own = await testDatabase();
});
beforeEach(() => {
  logged = "";
});
afterAll(() => own.drop());

const known = async (): Promise<number> => {
  const [row] = await own.database.sql<[{ ago: number }]>`
    select extract(epoch from clock_timestamp() - trusted_until)::float8 as ago from clock_marks`;
  return row.ago;
};

test("a trusted time is stored for the next start; a doubted one is not", async () => {
  await watch().read();
  expect(await known()).toBeLessThan(60);
  await own.database.sql`update clock_marks set trusted_until = now() - interval '2 years'`;
  const one = watch();
  expect((await one.read()).isTrusted).toBe(false);
  expect((await one.read()).isTrusted).toBe(false);
  expect((await watch().read()).isTrusted).toBe(false);
  expect(lines("is far from")).toBe(2);
  expect(await known()).toBeGreaterThan(1_000_000);
  await own.database.sql`update clock_marks set trusted_until = now() - interval '1 day'`;
  expect((await one.read()).isTrusted).toBe(true);
  expect(await known()).toBeLessThan(60);
});
