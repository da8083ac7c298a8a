import { afterAll, beforeAll, expect, test } from "vitest";
import type { BlobStore } from "../../engines/blobs/blobs.ts";
import type { Database } from "../../engines/database/index.ts";
import { addUser, archiveOf, openWorkshop, restoreInto } from "./backup.fixture.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

const text = { contentType: "text/plain" };

async function contentsOf(blobs: BlobStore): Promise<Record<string, string>> {
  const contents: Record<string, string> = {};
  for (const key of (await Array.fromAsync(blobs.keys())).sort()) {
    const opened = await blobs.open(key);
    contents[key] = Buffer.concat((await opened?.body.toArray()) ?? []).toString();
  }
  return contents;
}

/** A backup of anna's, and an installation of bert's that it is to replace; they have two files in common by name. */
async function twoInstallations() {
  const [from, to] = [await shop.freshDatabase(), await shop.freshDatabase()];
  const [theirs, ours] = [await shop.freshBlobs(), await shop.freshBlobs()];
  await addUser(from, "usr_a", "anna");
  await addUser(to, "usr_b", "bert");
  for (const key of ["a-new", "b-same", "c-other", "d-new"]) await theirs.put(key, Buffer.from(`${key} of anna`), text);
  await ours.put("b-same", Buffer.from("b-same of anna"), text);
  await ours.put("c-other", Buffer.from("c-other of bert"), text);
  await ours.put("e-own", Buffer.from("e-own of bert"), text);
  return { archive: await archiveOf(from, theirs), to, ours };
}

const usersOf = async (database: Database) =>
  (await database.sql<{ username: string }[]>`select username from users`).map(({ username }) => username);

test("a failed restore leaves rows, rules and files unchanged", async () => {
  const { archive, to, ours } = await twoInstallations();
  const before = await contentsOf(ours);
  await expect(restoreInto(archive, { database: to, blobs: ours })).rejects.toThrow("not empty");
  let puts = 0;
  const failing: BlobStore = {
    ...ours,
    put: (...args) => (++puts === 2 ? Promise.reject(new Error("the disk is full")) : ours.put(...args)),
  };
  await expect(restoreInto(archive, { database: to, blobs: failing, replace: true })).rejects.toThrow("disk is full");
  const noKeys = async () => {
    throw new Error("no room for keys");
  };
  const late = restoreInto(archive, { database: to, blobs: ours, replace: true, prepareKeys: noKeys });
  await expect(late).rejects.toThrow("no room for keys");
  expect(await contentsOf(ours)).toEqual(before);
  expect(await usersOf(to)).toEqual(["bert"]);
  await to.sql`select move_money('credit', 'outside', 'user:usr_b', 5, null, 'x')`;
  expect(await to.sql`select balance_micros as b from wallets`).toMatchObject([{ b: 5 }]);
  await expect(to.sql`delete from ledger`.execute()).rejects.toThrow("append-only");

  // And one that does not fail replaces all of it.
  await restoreInto(archive, { database: to, blobs: ours, replace: true });
  expect(await usersOf(to)).toEqual(["anna"]);
  const expected = ["a-new", "b-same", "c-other", "d-new"].map((key) => [key, `${key} of anna`]);
  expect(await contentsOf(ours)).toEqual({ ...Object.fromEntries(expected), "e-own": "e-own of bert" });
}, 60_000);

test("a failed restore leaves sequences unchanged", async () => {
  const { archive, to, ours } = await twoInstallations();
  const credit = () => to.sql`select move_money('credit', 'outside', 'user:usr_b', 5, null, 'x')`.execute();
  for (let n = 0; n < 3; n++) await credit();
  const prepareKeys = () => Promise.reject(new Error("no room for keys"));
  const restoring = restoreInto(archive, { database: to, blobs: ours, replace: true, prepareKeys });
  await expect(restoring).rejects.toThrow("no room for keys");
  await credit();
  expect(await to.sql`select balance_micros as b from wallets`).toMatchObject([{ b: 20 }]);
});

test("a refused row is reported by its number, without its content", async () => {
  const [from, to, blobs] = [await shop.freshDatabase(), await shop.freshDatabase(), await shop.freshBlobs()];
  await from.sql`alter table users alter column created_at type text`;
  await from.sql`
    insert into users (id, username, role, plan, created_at)
    select 'usr_' || n, 'name-' || n, 'user', 'free', case n when 77 then 'private' else now()::text end
    from generate_series(1, 120) n`;
  const restoring = restoreInto(await archiveOf(from, blobs), { database: to, blobs });
  await expect(restoring).rejects.toThrow(
    /^Row 77 of the table users in the backup does not fit that table \(PostgreSQL's error 22007\)$/,
  );
  expect(await usersOf(to)).toEqual([]);
});

/** The connection is lost at the very end: before the commit has taken place, or after. */
test.each(["committed", "not committed"])("a lost answer to the commit is resolved: %s", async (end) => {
  const { archive, to, ours } = await twoInstallations();
  const before = await contentsOf(ours);
  const cut: Database = {
    ...to,
    transaction: async (work, options) => {
      const result = await to.transaction(async (tx) => {
        const done = await work(tx);
        if (end === "not committed" && (await tx`select 1 from users where username = 'anna'`).length > 0) {
          throw new Error("the connection was lost");
        }
        return done;
      }, options);
      if (cuts++ === 0) throw new Error("the connection was lost");
      return result;
    },
  };
  let cuts = 0;
  const migrateTo = async () => {};
  const restoring = restoreInto(archive, { database: cut, blobs: ours, replace: true, migrateTo });
  if (end === "committed") {
    expect(await restoring).toMatchObject({ blobs: 4 });
    expect(await usersOf(to)).toEqual(["anna"]);
    expect(Object.keys(await contentsOf(ours))).toContain("d-new");
  } else {
    await expect(restoring).rejects.toThrow("the connection was lost");
    expect(await usersOf(to)).toEqual(["bert"]);
    expect(await contentsOf(ours)).toEqual(before);
  }
});

test("an unknown outcome undoes nothing and is reported", async () => {
  const { archive, to, ours } = await twoInstallations();
  const settleKeys = () => Promise.reject(new Error("away"));
  const restoring = restoreInto(archive, { database: to, blobs: ours, replace: true, settleKeys });
  await expect(restoring).rejects.toThrow("Whether the restore took place is found out at the next start or restore");
  expect(Object.keys(await contentsOf(ours))).toContain("d-new");
});
