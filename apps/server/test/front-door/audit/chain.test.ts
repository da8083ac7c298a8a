import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deleteOldRecords, record, verifyAudit } from "../../../src/features/audit/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let other: GantryNode;
let names = 0;

beforeAll(async () => {
  gantry = await startGantry();
  other = await startGantry({ beside: gantry });
});
afterAll(async () => {
  await other.close();
  await gantry.close();
});

const sql = () => gantry.database.sql;
const put = async (node = gantry) => {
  const answer = await node.call("PUT", `/api/v2/secrets/secret-${++names}`, { json: { value: "x" } });
  expect(answer.status, answer.text).toBe(201);
};
const verify = (noted?: string) => verifyAudit(gantry.database, noted);
const ends = async () => {
  const [row] = await sql()<{ first: number; last: number; count: number }[]>`
    select min(seq) as first, max(seq) as last, count(*)::int as count from audit_records`;
  return row ?? { first: 0, last: 0, count: 0 };
};

/** As an intruder with all rights on the database would. Undone afterwards. */
async function tampered(work: () => Promise<unknown>, noted?: string) {
  await sql()`alter table audit_records disable trigger user`;
  await sql()`create table saved_records as select seq, at, hash, entry from audit_records`;
  await sql()`create table saved_chain as select * from audit_chain`;
  try {
    await work();
    return await verify(noted);
  } finally {
    await sql()`truncate audit_records`;
    await sql()`insert into audit_records (seq, at, hash, entry) select * from saved_records`;
    await sql()`delete from audit_chain`;
    await sql()`insert into audit_chain select * from saved_chain`;
    await sql()`drop table saved_records, saved_chain`;
    await sql()`alter table audit_records enable trigger user`;
  }
}

beforeEach(async () => {
  for (let n = 0; n < 4; n++) await put();
  expect(await verify()).toMatchObject({ intact: true, broken: null });
});

describe("the chain", () => {
  test("is gapless under parallel changes over two nodes", async () => {
    const before = await ends();
    await Promise.all(Array.from({ length: 50 }, (_, n) => put(n % 2 === 0 ? gantry : other)));
    const after = await ends();
    expect(after.last - before.last).toBe(50);
    expect(after.count).toBe(after.last - after.first + 1);
    expect(await verify()).toMatchObject({ intact: true, records: after.count, last: after.last });
  });

  test("shows a changed record, a missing one, and a cut end", async () => {
    const { last } = await ends();
    const seq = last - 2;
    const changed = await tampered(
      () => sql()`
        update audit_records set entry = replace(entry::text, '"admin"', '"ghost"')::json where seq = ${seq}`,
    );
    expect(changed).toMatchObject({ intact: false, broken: { seq } });
    const moved = await tampered(() => sql()`update audit_records set at = at - interval '1 day' where seq = ${seq}`);
    expect(moved).toMatchObject({ intact: false, broken: { seq } });
    const missing = await tampered(() => sql()`delete from audit_records where seq = ${seq}`);
    expect(missing).toMatchObject({ intact: false, broken: { seq } });
    const cut = await tampered(() => sql()`delete from audit_records where seq = ${last}`);
    expect(cut).toMatchObject({ intact: false, broken: { seq: last } });
    expect(await verify()).toMatchObject({ intact: true });
  });

  test("shows a cut end that was covered up, if the head was noted", async () => {
    const { head } = await verify();
    const { last } = await ends();
    const coverUp = async () => {
      await sql()`delete from audit_records where seq = ${last}`;
      await sql()`
        update audit_chain set seq = r.seq, hash = r.hash from audit_records r where r.seq = ${last - 1}`;
    };
    expect(await tampered(coverUp)).toMatchObject({ intact: true });
    expect(await tampered(coverUp, head)).toMatchObject({ intact: false, broken: { seq: last - 1 } });
    await put();
    expect(await verify(head)).toMatchObject({ intact: true });
  });

  test("refuses changes and deletions", async () => {
    const refused = "audit records cannot be changed or deleted";
    await expect(sql()`update audit_records set at = now()`).rejects.toThrow(refused);
    await expect(sql()`delete from audit_records`).rejects.toThrow(refused);
    await expect(sql()`truncate audit_records`).rejects.toThrow(refused);
  });

  test("stays verifiable after old records are deleted", async () => {
    const { first, last } = await ends();
    const [row] = await sql()<{ at: Date }[]>`select at from audit_records where seq = ${last - 1}`;
    const before = row?.at ?? new Date();
    const both = [deleteOldRecords(gantry.database, before, 3), deleteOldRecords(other.database, before, 3)];
    const [a = 0, b = 0] = await Promise.all(both);
    for (let more = 1; more > 0; ) more = await deleteOldRecords(gantry.database, before, 3);
    const now = await ends();
    expect(a + b).toBeGreaterThan(0);
    expect(now.first).toBeGreaterThan(first);
    expect(now.last).toBe(last);
    expect(await verify()).toMatchObject({ intact: true, first: now.first, records: now.count });
    await put();
    expect(await verify()).toMatchObject({ intact: true, last: last + 1 });
    const hidden = await tampered(() => sql()`delete from audit_records where seq = ${now.first}`);
    expect(hidden).toMatchObject({ intact: false, broken: { seq: now.first } });
  });

  test("is not held by a node that hangs", async () => {
    await gantry.database.transaction(async (tx) => {
      await tx`select from audit_chain for update`;
      const answer = await other.call("PUT", `/api/v2/secrets/waits`, { json: { value: "x" } });
      expect([answer.status, answer.text]).toEqual([503, expect.stringContaining("Try again")]);
      await record(tx, { action: "secret.put", object: { id: "hangs" }, ownerId: null });
      const [set] = await tx`select current_setting('idle_in_transaction_session_timeout') as it`;
      expect(set?.it).toBe("3s");
    });
    await put(other);
  });

  test("has no record of what was rolled back", async () => {
    const before = await ends();
    const rolledBack = gantry.database.transaction(async (tx) => {
      await record(tx, { action: "secret.put", object: { id: "undone" }, ownerId: null });
      throw new Error("undone");
    });
    await expect(rolledBack).rejects.toThrow("undone");
    expect(await ends()).toEqual(before);
    await put();
    expect((await ends()).last).toBe(before.last + 1);
  });
});
