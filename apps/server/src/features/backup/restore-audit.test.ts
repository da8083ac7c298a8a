import { afterAll, beforeAll, expect, test } from "vitest";
import { record, verifyAudit } from "../audit/index.ts";
import { addUser, backUp, openWorkshop, restoreInto } from "./backup.fixture.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

test("a restored audit log is still intact, also in another bucket", async () => {
  const [database, blobs] = [await shop.freshDatabase(), await shop.freshBlobs()];
  await addUser(database, "usr_a", "anna");
  for (const name of ["s3://gantry/a", 'quoted "é" \\ text']) {
    await database.transaction((tx) =>
      record(tx, { action: "drive.create", object: { id: "drv_a", name }, ownerId: "usr_a", after: { name } }),
    );
  }
  const before = await verifyAudit(database);
  expect(before).toMatchObject({ intact: true, records: 2 });
  const { archive } = await backUp(database, blobs);
  const target = { database: await shop.freshDatabase(), blobs: await shop.freshBlobs("other") };
  await restoreInto(archive, target);
  // The restore itself is the next record.
  expect(await verifyAudit(target.database, before.head)).toMatchObject({ intact: true, records: 3, first: 1 });
  const [last] = await target.database.sql<{ entry: object }[]>`select entry from audit_records where seq = 3`;
  expect(last?.entry).toMatchObject({
    action: "installation.restore",
    actor: { type: "operator", id: null },
    object: { type: "installation" },
    owner: null,
    after: { backup_of: "2026-05-01T00:00:00.000Z", replaced: false },
  });
}, 30_000);
