import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";

let gantry: GantryNode;
let alice: string;
let bob: string;
let aliceId: string;

beforeAll(async () => {
  gantry = await startGantry();
  alice = await gantry.newUser("alice", { credit: 7 });
  bob = await gantry.newUser("bob", { credit: 0 });
  aliceId = (await gantry.call("GET", "/api/v2/me", { key: alice })).body.id;
  const headers = { "user-agent": '=HYPERLINK("http://evil.example")' };
  await put("one", alice, headers);
  await put("two", alice);
  await put("three", bob);
});
afterAll(() => gantry.close());

async function put(name: string, key: string, headers = {}) {
  const answer = await gantry.call("PUT", `/api/v2/secrets/${name}`, { key, json: { value: "x" }, headers });
  expect(answer.status, answer.text).toBe(201);
  return answer.headers.get("x-request-id");
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
type Shown = any;
const list = async (query: string, key = gantry.adminKey): Promise<Shown[]> => {
  const answer = await gantry.call("GET", `/api/v2/admin/audit?${query}`, { key });
  expect(answer.status, answer.text).toBe(200);
  return answer.body.results;
};
const actionsOf = (records: Shown[]) => records.map(({ action, object }) => `${action} ${object.name}`);

describe("the list for admins", () => {
  test("is newest first and paged", async () => {
    const answer = await gantry.call("GET", "/api/v2/admin/audit?page_size=2");
    expect(answer.body).toMatchObject({ page: 1, page_size: 2 });
    expect(actionsOf(answer.body.results)).toEqual(["secret.put three", "secret.put two"]);
    expect(answer.body.total_count).toBe(answer.body.results[0].seq);
    const [next] = await list("page_size=2&page=2");
    expect(next).toMatchObject({
      action: "secret.put",
      actor: { type: "user", username: "alice", session: false },
      origin: { address: "127.0.0.1", user_agent: '=HYPERLINK("http://evil.example")' },
      object: { type: "secret", id: "one", name: "one" },
      owner: { id: aliceId, username: "alice" },
      before: null,
      after: { replaced: false },
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  test("is filtered by action, actor, owner, object, id and time", async () => {
    expect(actionsOf(await list("action=secret&actor=alice"))).toEqual(["secret.put two", "secret.put one"]);
    expect(actionsOf(await list(`action=secret.put&owner=${aliceId}`))).toEqual(["secret.put two", "secret.put one"]);
    expect(actionsOf(await list("actor=admin&owner=bob"))).toEqual(["key.create null", "user.create bob"]);
    expect(actionsOf(await list("object=three"))).toEqual(["secret.put three"]);
    const requestId = await put("four", bob);
    expect(actionsOf(await list(`q=${requestId}`))).toEqual(["secret.put four"]);
    const [newest] = await list("page_size=1");
    expect(actionsOf(await list(`from_date=${newest.created_at}`))).toEqual(["secret.put four"]);
    expect(await list(`to_date=2020-01-01T00:00:00`)).toEqual([]);
    const misspelt = await gantry.call("GET", "/api/v2/admin/audit?actr=alice");
    expect([misspelt.status, misspelt.text]).toEqual([422, expect.stringContaining("Unknown parameter")]);
  });

  test("names the operator for what settings and the first start did", async () => {
    const first = (await list("page_size=100")).toReversed().slice(0, 2);
    expect(first.map(({ action, actor, origin }) => [action, actor.type, origin])).toEqual([
      ["user.create", "operator", null],
      ["key.create", "operator", null],
    ]);
  });

  test("comes as CSV that no spreadsheet computes", async () => {
    const csv = await gantry.call("GET", "/api/v2/admin/audit?actor=alice", { headers: { accept: "text/csv" } });
    expect(csv.headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
    const [header, second, first] = csv.text.split("\r\n");
    expect(header?.split(",").slice(0, 4)).toEqual(["seq", "created_at", "action", "actor_type"]);
    expect(second).toContain(",secret.put,user,");
    expect(first).toContain(`,"'=HYPERLINK(""http://evil.example"")",`);
    expect(csv.text.split("\r\n")).toHaveLength(4);
  });

  test("is not for others", async () => {
    const answer = await gantry.call("GET", "/api/v2/admin/audit", { key: alice });
    expect(answer.status).toBe(403);
  });
});

describe("the list of a user", () => {
  const own = async (key: string, query = "") => {
    const answer = await gantry.call("GET", `/api/v2/audit?${query}`, { key });
    expect(answer.status, answer.text).toBe(200);
    return answer.body.results as Shown[];
  };

  test("has own actions and those of admins on what is the user's, without the admin's address and key", async () => {
    const records = await own(alice);
    expect(records.map(({ action, actor }) => [action, actor.username])).toEqual([
      ["secret.put", "alice"],
      ["secret.put", "alice"],
      ["key.create", "admin"],
      ["credit.add", "admin"],
      ["user.create", "admin"],
    ]);
    expect(records[0].origin).toMatchObject({ address: "127.0.0.1" });
    for (const { origin, actor } of records.slice(2)) {
      expect([origin, actor.key_id, actor.key_public]).toEqual([null, null, null]);
    }
    expect(records[3].after).toEqual({ amount: 7, reason: "test", balance: 7 });
  });

  test("has nothing of others, whatever the filter", async () => {
    expect(await own(alice, "q=three")).toEqual([]);
    expect((await own(bob, "action=secret")).every(({ owner }) => owner.username === "bob")).toBe(true);
    const foreign = await gantry.call("GET", "/api/v2/audit?actor=bob", { key: alice });
    expect(foreign.status).toBe(422);
  });

  test("is refused to a key limited to models", async () => {
    const made = await gantry.call("POST", "/api/v2/keys", { key: alice, json: { models: ["gantry/text"] } });
    const answer = await gantry.call("GET", "/api/v2/audit", { key: made.body.key });
    expect(answer.status).toBe(403);
  });
});

test("long texts are cut between characters", async () => {
  const text = "😀".repeat(300);
  const made = await gantry.call("POST", "/v1/drives", { key: alice, json: { name: "faces", description: text } });
  expect(made.status, made.text).toBe(201);
  expect((await gantry.call("DELETE", `/v1/drives/${made.body.id}`, { key: alice })).status).toBe(204);
  const credit = { amount: 1, reason: text };
  const paid = await gantry.call("POST", "/api/v2/admin/users/alice/credits", { json: credit });
  expect(paid.status, paid.text).toBeLessThan(300);
  const [credited, removed] = await list("page_size=2");
  expect([credited.after.reason, removed.before.description]).toEqual(Array(2).fill(`${"😀".repeat(249)}…`));
});

test("failed sign-ins name the user, if the name is one, and refused guesses count", async () => {
  const fail = (username: string) =>
    gantry.call("POST", "/console/api/session", { key: "", json: { username, password: "a wrong guess" } });
  expect((await fail("my secret phrase")).status).toBe(401);
  expect((await list("page_size=1"))[0].object).toMatchObject({ id: "console", name: null });
  expect((await fail("Alice")).status).toBe(401);
  await gantry.database.sql`update sign_in_attempts set full_at = now() + interval '1 hour'`;
  expect((await fail("alice")).status).toBe(429);
  expect((await list("page_size=2")).map(({ action, object }) => [action, object.id, object.name])).toEqual([
    ["session.refuse", aliceId, "alice"],
    ["session.refuse", aliceId, "alice"],
  ]);
});

describe("settings", () => {
  test("that differ from the last start are recorded, secret ones without their value", async () => {
    const before = await list("action=settings");
    const start = (env: Record<string, string>) => startGantry({ beside: gantry, env });
    const node = await start({ GANTRY_RESULT_DAYS: "31", GANTRY_METRICS_KEY: "PLANTED-metrics-key-1" });
    await node.close();
    const [record] = await list("action=settings");
    expect(record).toMatchObject({
      actor: { type: "operator" },
      before: { values: { GANTRY_RESULT_DAYS: 30, GANTRY_METRICS_KEY: null } },
      after: { values: { GANTRY_RESULT_DAYS: 31, GANTRY_METRICS_KEY: "(changed)" } },
    });
    const same = await start({ GANTRY_RESULT_DAYS: "31", GANTRY_METRICS_KEY: "PLANTED-metrics-key-1" });
    await same.close();
    expect(await list("action=settings")).toHaveLength(before.length + 1);
    const back = await start({ GANTRY_METRICS_KEY: "PLANTED-metrics-key-2" });
    await back.close();
    const [latest] = await list("action=settings");
    expect(latest.after.values).toEqual({ GANTRY_RESULT_DAYS: 30, GANTRY_METRICS_KEY: "(changed)" });
    const [stored] = await gantry.database.sql`select string_agg(value::text, '') as text from settings`;
    expect(stored?.text).not.toContain("PLANTED");
  });
});
