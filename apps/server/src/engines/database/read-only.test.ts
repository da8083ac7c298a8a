import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connectExternalDatabase } from "./index.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

/** For connections that are made from now on: as a failover leaves us on a standby. */
async function closeToWrites(setting: "on" | "off"): Promise<void> {
  const name = new URL(own.url).pathname.slice(1);
  await own.database.transaction(async (tx) => {
    await tx`set transaction read write`;
    await tx.unsafe(`alter database "${name}" set default_transaction_read_only = ${setting}`);
  });
}

test("a server that only reads, as a standby does, is not ready and says why, and is again when it writes", async () => {
  await closeToWrites("on");
  const standby = await connectExternalDatabase({ url: own.url, poolSize: 1 });
  expect([await standby.ready(), standby.trouble(), standby.isFull()]).toEqual([false, "read-only", false]);
  const refused = {
    type: "service_unavailable",
    retryable: true,
    message: "The database is read-only: nothing can be stored for the moment.",
  };
  await expect(standby.sql`create table item (id int)`.execute()).rejects.toMatchObject(refused);
  await expect(standby.transaction((tx) => tx`create table item (id int)`)).rejects.toMatchObject(refused);
  expect(await standby.sql`select 1 as one`).toEqual([{ one: 1 }]);
  await closeToWrites("off");
  // The connection is of before. A refused query ends it: the next one may lead to a server that writes.
  await expect(standby.sql`create table item (id int)`.execute()).rejects.toMatchObject(refused);
  await expect.poll(() => standby.ready()).toBe(true);
  expect(standby.trouble()).toBe(undefined);
  await standby.close();
});
