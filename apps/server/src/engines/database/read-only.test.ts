import { afterAll, beforeAll, expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connectExternalDatabase } from "./index.ts";

let own: Awaited<ReturnType<typeof testDatabase>>;
beforeAll(async () => {
  own = await testDatabase();
});
afterAll(() => own.drop());

/** For new connections, as after a failover to a standby. */
async function closeToWrites(setting: "on" | "off"): Promise<void> {
  const name = new URL(own.url).pathname.slice(1);
  await own.database.transaction(async (tx) => {
    await tx`set transaction read write`;
    await tx.unsafe(`alter database "${name}" set default_transaction_read_only = ${setting}`);
  });
}

test("a read-only server is not ready, with a reason, until it accepts writes", async () => {
  await closeToWrites("on");
  const standby = await connectExternalDatabase({ url: own.url, poolSize: 1 });
  expect([await standby.ready(), standby.trouble(), standby.isFull()]).toEqual([false, "read-only", false]);
  const refused = {
    type: "service_unavailable",
    retryable: true,
    message: "The database is read-only. Nothing can be stored.",
  };
  await expect(standby.sql`create table item (id int)`.execute()).rejects.toMatchObject(refused);
  await expect(standby.transaction((tx) => tx`create table item (id int)`)).rejects.toMatchObject(refused);
  expect(await standby.sql`select 1 as one`).toEqual([{ one: 1 }]);
  await closeToWrites("off");
  // The refused query ends the old connection. The next one may reach a server that accepts writes.
  await expect(standby.sql`create table item (id int)`.execute()).rejects.toMatchObject(refused);
  await expect.poll(() => standby.ready()).toBe(true);
  expect(standby.trouble()).toBe(undefined);
  await standby.close();
});
