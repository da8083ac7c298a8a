import { expect, test } from "vitest";
import { testDatabase } from "../../../test/support/database.ts";
import { connect } from "./index.ts";

test("a server that only reads, as a standby does, is not ready, and is again when it writes", async () => {
  const own = await testDatabase();
  const name = new URL(own.url).pathname.slice(1);
  await own.database.sql.unsafe(`alter database "${name}" set default_transaction_read_only = on`);
  const standby = connect({ url: own.url, poolSize: 1 });
  expect(await standby.ready()).toBe(false);
  await standby.close();
  await own.database.sql.unsafe(`alter database "${name}" set default_transaction_read_only = off`);
  const primary = connect({ url: own.url, poolSize: 1 });
  expect(await primary.ready()).toBe(true);
  await primary.close();
  await own.drop();
});
