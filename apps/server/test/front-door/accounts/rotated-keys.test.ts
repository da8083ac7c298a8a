import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { sendHalf } from "../../support/half-sent.ts";

// access-table.test.ts lists the routes that refuse a replaced secret.

let gantry: GantryNode;
beforeAll(async () => {
  gantry = await startGantry();
});
afterAll(() => gantry.close());

/** A user whose key was rotated with an hour of grace: the key's id, old and new secret. */
async function rotated(username: string, graceSeconds = 3600): Promise<{ id: string; old: string; now: string }> {
  const old = await gantry.newUser(username);
  const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key: old })).body.results;
  const answer = await rotate(id, old, graceSeconds);
  expect(answer.status, answer.text).toBe(200);
  return { id, old, now: answer.body.key };
}

const rotate = (id: string, key: string, grace_seconds = 0) =>
  gantry.call("POST", `/api/v2/keys/${id}/rotate`, { key, json: { grace_seconds } });

async function signIn(key: string): Promise<Record<string, string>> {
  const answer = await gantry.call("POST", "/console/api/session", { key: "", json: { key } });
  expect(answer.status, answer.text).toBe(200);
  return { cookie: answer.headers.get("set-cookie")?.split(";")[0] ?? "", "x-gantry-console": "1" };
}

test("a replaced secret works during its grace period and cannot extend it", async () => {
  const { id, old, now } = await rotated("alice");
  const form = { prompt: "hello" };
  expect((await gantry.call("POST", "/api/v1/gantry/rules/predict/stream/", { key: old, form })).status).toBe(200);
  for (const [method, path, json] of [
    ["POST", "/api/v2/keys", { name: "survivor" }],
    ["GET", "/api/v2/keys", undefined],
    ["DELETE", `/api/v2/keys/${id}`, undefined],
    ["POST", "/api/v2/sign-in-links", {}],
    ["PUT", "/api/v2/secrets/mine", { value: "x" }],
    ["POST", "/api/v2/webhooks/secret/rotate", {}],
  ] as const) {
    const answer = await gantry.call(method, path, { key: old, ...(json && { json }) });
    expect([answer.status, answer.body.detail], path).toEqual([
      403,
      expect.stringMatching(/^This secret was replaced by a rotation and cannot .*\. Use the new secret\.$/),
    ]);
  }
  const taken = await rotate(id, old);
  expect([taken.status, taken.body.detail]).toEqual([
    403,
    "This secret was replaced by a rotation and cannot manage keys. Use the new secret.",
  ]);
  expect((await gantry.call("GET", "/api/v2/me", { key: now })).status).toBe(200);
  expect((await gantry.call("GET", "/api/v2/keys", { key: now })).body.results).toHaveLength(1);
});

test("a replaced secret of an admin has no admin rights", async () => {
  const { old, now } = await rotated("root");
  await gantry.call("PATCH", "/api/v2/admin/users/root", { json: { role: "admin" } });
  const users = (key: string) => gantry.call("GET", "/api/v2/admin/users", { key });
  expect([(await users(now)).status, (await users(old)).status]).toEqual([200, 403]);
  const expenses = (key: string) => gantry.call("GET", "/admin/expenses", { key });
  expect([(await expenses(now)).status, (await expenses(old)).status]).toEqual([200, 403]);
  const card = async (key: string) => (await gantry.call("GET", "/api/v1/gantry/image", { key })).body;
  expect([Object.hasOwn(await card(now), "backend"), Object.hasOwn(await card(old), "backend")]).toEqual([true, false]);
});

test("a session opened with it cannot manage anything, before or after the rotation", async () => {
  const key = await gantry.newUser("carol");
  const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key })).body.results;
  const before = await signIn(key);
  const create = (headers: Record<string, string>) =>
    gantry.call("POST", "/api/v2/keys", { key: "", headers, json: { name: "survivor" } });
  expect((await create(before)).status).toBe(201);
  const rotation = await rotate(id, key, 3600);
  const after = await signIn(key);
  for (const headers of [before, after]) {
    const answer = await create(headers);
    expect([answer.status, answer.body.detail]).toEqual([403, expect.stringContaining("This secret was replaced")]);
    expect((await gantry.call("GET", "/api/v2/me", { key: "", headers })).status).toBe(200);
  }
  expect((await create(await signIn(rotation.body.key))).status).toBe(201);
});

test("a session is not opened with a secret that is rotated concurrently", async () => {
  for (let round = 0; round < 5; round++) {
    const key = await gantry.newUser(`racer${round}`);
    const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key })).body.results;
    const opening = Array.from({ length: 8 }, () =>
      gantry.call("POST", "/console/api/session", { key: "", json: { key } }),
    );
    const rotation = await rotate(id, key, 0);
    expect(rotation.status).toBe(200);
    for (const { status, headers } of await Promise.all(opening)) {
      expect([200, 401]).toContain(status);
      const cookie = headers.get("set-cookie")?.split(";")[0];
      if (cookie === undefined) continue;
      const me = await gantry.call("GET", "/api/v2/me", { key: "", headers: { cookie, "x-gantry-console": "1" } });
      expect(me.status).toBe(401);
    }
  }
});

describe("a request that was open when its secret", () => {
  const begin = (key: string, path: string, json: object) =>
    sendHalf("POST", gantry.url + path, json, { "x-api-key": key });

  test("was rotated does not rotate the key again", async () => {
    const stolen = await gantry.newUser("rotated-meanwhile");
    const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key: stolen })).body.results;
    const open = await begin(stolen, `/api/v2/keys/${id}/rotate`, { grace_seconds: 0 });
    const { body } = await rotate(id, stolen);
    expect((await open.finish()).status).toBe(401);
    expect((await gantry.call("GET", "/api/v2/me", { key: body.key })).status).toBe(200);
  });

  test("was rotated with a grace period manages nothing", async () => {
    const stolen = await gantry.newUser("in-grace-meanwhile");
    const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key: stolen })).body.results;
    const open = await begin(stolen, `/api/v2/keys/${id}/rotate`, { grace_seconds: 0 });
    const { body } = await rotate(id, stolen, 3600);
    expect((await open.finish()).status).toBe(403);
    expect((await gantry.call("GET", "/api/v2/me", { key: body.key })).status).toBe(200);
  });

  test.each([
    ["/api/v2/keys", { name: "survivor" }],
    ["/api/v2/sign-in-links", { username: "revoked-meanwhile" }],
    ["/v1/drives", { name: "survivor" }],
  ])("was revoked gets a 401 from %s", async (path, json) => {
    const first = await gantry.newUser("revoked-meanwhile");
    const { key: stolen, id } = (await gantry.call("POST", "/api/v2/keys", { key: first, json: { name: "b" } })).body;
    const open = await begin(stolen, path, json);
    expect((await gantry.call("DELETE", `/api/v2/keys/${id}`, { key: first })).status).toBe(204);
    expect((await open.finish()).status).toBe(401);
    expect((await gantry.call("GET", "/api/v2/keys", { key: first })).body.total_count).toBe(1);
  });
});

test("of several rotations with one secret at once, one succeeds", async () => {
  const key = await gantry.newUser("rotating");
  const [{ id }] = (await gantry.call("GET", "/api/v2/keys", { key })).body.results;
  const answers = await Promise.all([0, 0, 3600, 3600].map((grace) => rotate(id, key, grace)));
  const made = answers.filter(({ status }) => status === 200);
  expect(made).toHaveLength(1);
  expect((await gantry.call("GET", "/api/v2/me", { key: made[0]?.body.key })).status).toBe(200);
});
