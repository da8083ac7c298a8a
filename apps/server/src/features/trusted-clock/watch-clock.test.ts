import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { createLog } from "../../kernel/log.ts";
import { watchClock } from "./index.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
let logged = "";
let ahead = 0;
const log = createLog("info", { write: (line: string) => (logged += line) });
const clock = { now: () => new Date(Date.now() + ahead) };
const watch = () => watchClock({ database: own.database, log, clock });
const lines = (words: string) => logged.split("\n").filter((line) => line.includes(words)).length;

beforeAll(async () => {
  own = await testDatabase();
});
beforeEach(() => {
  [logged, ahead] = ["", 0];
});
afterAll(() => own.drop());

const known = async (): Promise<number> => {
  const [row] = await own.database.sql<[{ ago: number }]>`
    select extract(epoch from clock_timestamp() - trusted_until)::float8 as ago from clock_marks`;
  return row.ago;
};

test("the time is the database's, whatever this process's clock says; a difference is told once, and when it changes", async () => {
  const one = watch();
  ahead = 31 * 86_400_000;
  for (let n = 0; n < 3; n++) {
    const { now, isTrusted } = await one.read();
    expect(isTrusted).toBe(true);
    expect(Math.abs(now.getTime() - Date.now())).toBeLessThan(60_000);
  }
  expect(lines("differ")).toBe(1);
  ahead = -3_600_000;
  await one.read();
  expect(lines("differ")).toBe(2);
  ahead = 0;
  await one.read();
  await one.read();
  expect([lines("differ"), lines("agree again")]).toEqual([2, 1]);
});

test("what is believed is written down, for the next start too; what is doubted is not", async () => {
  await watch().read();
  expect(await known()).toBeLessThan(60);
  await own.database.sql`update clock_marks set trusted_until = now() - interval '2 years'`;
  const one = watch();
  expect((await one.read()).isTrusted).toBe(false);
  expect((await one.read()).isTrusted).toBe(false);
  expect((await watch().read()).isTrusted).toBe(false);
  expect(lines("stands far")).toBe(2);
  expect(await known()).toBeGreaterThan(1_000_000);
  await own.database.sql`update clock_marks set trusted_until = now() - interval '1 day'`;
  expect((await one.read()).isTrusted).toBe(true);
  expect(await known()).toBeLessThan(60);
});
