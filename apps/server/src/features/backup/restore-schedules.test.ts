import { afterAll, beforeAll, expect, test } from "vitest";
import { addUser, backUp, openWorkshop, restoreInto } from "./backup.fixture.ts";

let shop: Awaited<ReturnType<typeof openWorkshop>>;
beforeAll(async () => {
  shop = await openWorkshop();
});
afterAll(() => shop.close());

test("after a restore, schedules forget the due times since the backup", async () => {
  const [database, blobs] = [await shop.freshDatabase(), await shop.freshBlobs()];
  const { sql } = database;
  await addUser(database, "usr_a", "anna");
  await sql`
    insert into api_keys (id, user_id, public, secret_hash, name, created_at)
    values ('key_a', 'usr_a', ${"p".repeat(12)}, ${Buffer.alloc(32)}, 'k', now())`;
  await database.transaction(async (tx) => {
    await tx`
      insert into agents (id, owner_id, slug, visibility, latest_revision_id, created_at, updated_at)
      values ('agt_a', 'usr_a', 'a', 'private', 'rev_a', now(), now())`;
    await tx`
      insert into agent_revisions (id, agent_id, number, status, snapshot, warnings, created_at)
      values ('rev_a', 'agt_a', 1, 'draft', '{}', '[]', now())`;
  });
  const add = (id: string, enabled: boolean) => sql`
    insert into schedules (id, user_id, key_id, agent_id, agent_name, cron, timezone, input, missed, overlap, enabled,
      approve, connectors, base_url, next_at, upcoming, look_at, found_at)
    values (${id}, 'usr_a', 'key_a', 'agt_a', 'A', '* * * * *', 'UTC', '{"a": 1}', 'once', 'skip', ${enabled}, '{}', '{}',
      'http://x', now(), array[now()], case when ${enabled} then now() end, now())`;
  await add("sch_on", true);
  await add("sch_off", false);
  const { archive } = await backUp(database, blobs);
  await restoreInto(archive, { database, blobs, replace: true });
  const rows = await sql`
    select id, next_at is null as unknown, cardinality(upcoming) as shown, look_at is not null as "isActive"
    from schedules order by id desc`;
  expect(rows).toEqual([
    { id: "sch_on", unknown: true, shown: 0, isActive: true },
    { id: "sch_off", unknown: false, shown: 1, isActive: false },
  ]);
}, 30_000);
