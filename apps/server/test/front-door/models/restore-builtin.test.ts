import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient } from "../../../../../packages/sdk/src/index.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

/** A built-in model can always be restored. */
let gantry: GantryNode;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

const path = "/api/v1/gantry/text";
const restore = (at = path, key = gantry.adminKey) => gantry.call("POST", `${at}/restore`, { key });

test("a deleted model stays deleted over a restart and is restored as shipped", async () => {
  const { body: before } = await gantry.call("GET", path);
  await gantry.call("PATCH", path, { json: { title: "Changed" } });
  expect((await gantry.call("DELETE", path)).status).toBe(204);
  const beside = await startGantry({ beside: gantry });
  expect((await beside.call("GET", path)).status).toBe(404);

  const restored = await restore();
  expect(restored.status, restored.text).toBe(201);
  const { created_at: _made, updated_at: _changed, ...shipped } = before;
  expect(restored.body).toMatchObject(shipped);
  for (const node of [gantry, beside]) {
    await expect.poll(async () => (await node.call("GET", path)).status).toBe(200);
  }
  const answer = await gantry.call("POST", `${path}/predict/stream/`, { form: { prompt: "Hello" } });
  expect(answer.status, answer.text).toBe(200);
  await beside.close();
});

test("it is updated with releases again", async () => {
  await gantry.call("DELETE", path);
  await restore();
  const [row] = await gantry.database.sql`
    select seeded is not null as follows from models
    where name = 'text' and retired_at is null and owner_id = (select id from users where username = 'gantry')`;
  expect(row).toEqual({ follows: true });
});

test("existing models and unknown names are not restored, and only admins can restore", async () => {
  expect((await restore()).body).toEqual({ detail: expect.stringContaining("delete it first"), status_code: 409 });
  for (const other of ["/api/v1/gantry/nothing", "/api/v1/admin/text", "/api/v1/unknown/text"]) {
    expect((await restore(other)).status, other).toBe(404);
  }
  await gantry.call("DELETE", path);
  const key = await gantry.newUser("visitor");
  expect((await restore(path, key)).status).toBe(403);
  expect((await restore(path, "")).status).toBe(401);
  const card = await createClient({ url: gantry.url, key: gantry.adminKey }).models.restore("gantry/text");
  expect(card.endpoint_id).toBe("gantry/text");
});
