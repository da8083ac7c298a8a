import { afterAll, beforeAll, expect, test } from "vitest";
import type { Transaction } from "../../engines/database/database.ts";
import { openWorkshop } from "./backup.fixture.ts";
import { readOneMoment, readRows } from "./store.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const bytesAtOnce = 256 * 1024;

/** Portions of the table, and the size of the largest answer of the database. */
async function readTable(sql: string) {
  const { sql: setUp, transaction } = await shop.freshDatabase();
  await setUp.unsafe(sql);
  let largestAnswer = 0;
  const portions = await transaction((tx) => {
    const unsafe = async (text: string) => {
      const rows = await tx.unsafe(text);
      const size = rows.reduce((sum, { line }) => sum + (line?.length ?? 0), 0);
      largestAnswer = Math.max(largestAnswer, size);
      return rows;
    };
    const watched = new Proxy(tx, {
      get: (target, name) => (name === "unsafe" ? unsafe : Reflect.get(target, name)),
    }) as Transaction;
    return Array.fromAsync(readRows(watched, { name: "things", columns: ["n", "text"] }, bytesAtOnce));
  });
  return { portions, largestAnswer };
}

const sizeOf = (lines: string[]) => lines.reduce((sum, line) => sum + line.length, 0);
const numbersOf = (portions: string[][]) => portions.flat().map((line) => Number(/^\((\d+),/.exec(line)?.[1]));
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

test("large rows after small ones are read a few at a time", async () => {
  const { portions, largestAnswer } = await readTable(`
    create table things (n int, text text);
    insert into things select n, repeat('x', case when n <= 6000 then 10 else 20000 end)
    from generate_series(1, 6400) n`);
  expect(numbersOf(portions)).toEqual(upTo(6400));
  expect(largestAnswer).toBeLessThanOrEqual(4 * bytesAtOnce);
  expect(Math.max(...portions.map(sizeOf))).toBeLessThanOrEqual(bytesAtOnce);
  // Not one row a portion.
  expect(portions.length).toBeLessThan(100);
});

test("large rows come from the snapshot, also if they are replaced meanwhile", async () => {
  const { sql, transaction } = await shop.freshDatabase();
  await sql.unsafe(`
    create table things (n int, text text);
    insert into things select n, repeat('x', 20000) from generate_series(1, 40) n`);
  const portions = await transaction(async (tx) => {
    await readOneMoment(tx);
    const reading = readRows(tx, { name: "things", columns: ["n", "text"] }, bytesAtOnce);
    const first = await reading.next();
    await sql`update things set text = 'new'`;
    await sql`vacuum things`;
    return [first.value ?? [], ...(await Array.fromAsync(reading))];
  });
  expect(numbersOf(portions)).toEqual(upTo(40));
  expect(portions.flat().filter((line) => !line.endsWith("xx)"))).toEqual([]);
});

test("a row larger than a portion is one, also in a partition", async () => {
  const { portions } = await readTable(`
    create table things (n int, text text) partition by range (n);
    create table things_1 partition of things for values from (1) to (3);
    create table things_2 partition of things for values from (3) to (5);
    insert into things select n, repeat('é', case n % 2 when 0 then 300000 else 1 end) from generate_series(1, 4) n`);
  expect(portions.map((lines) => lines.map((line) => line.length))).toEqual([[5], [300_004], [5], [300_004]]);
  expect(numbersOf(portions)).toEqual(upTo(4));
});
