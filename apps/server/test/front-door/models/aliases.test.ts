import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Answer, type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";

let gantry: GantryNode;
let ann: { name: string; key: string };
let bob: { name: string; key: string };

beforeAll(async () => {
  gantry = await startGantry();
  [ann, bob] = [
    { name: "ann", key: await gantry.newUser("ann") },
    { name: "bob", key: await gantry.newUser("bob") },
  ];
  await createModels(gantry, { own: agentModel("http://127.0.0.1:9", { visibility: "private" }) }, ann);
});
afterAll(() => gantry.close());

const put = (name: string, model: unknown, key: string) =>
  gantry.call("PUT", `/api/v2/aliases/${name}`, { key, json: { model } });
const putShared = (name: string, model: unknown, key = gantry.adminKey) =>
  gantry.call("PUT", `/api/v2/admin/aliases/${name}`, { key, json: { model } });
const list = async (key: string, query = "") => (await gantry.call("GET", `/api/v2/aliases${query}`, { key })).body;
const remove = (name: string, key: string) => gantry.call("DELETE", `/api/v2/aliases/${name}`, { key });
const issues = ({ body }: Answer) => body.detail.map(({ loc, msg }: { loc: string[]; msg: string }) => [loc, msg]);

describe("own aliases", () => {
  test("are created with 201, changed with 200, listed by name and deleted with 204", async () => {
    const made = await put("gpt-4o", "gantry/text", ann.key);
    expect([made.status, made.body], made.text).toMatchObject([201, { name: "gpt-4o", model: "gantry/text" }]);
    const changed = await put("gpt-4o", "gantry/rules", ann.key);
    expect([changed.status, changed.body]).toMatchObject([200, { name: "gpt-4o", model: "gantry/rules" }]);
    expect(changed.body.created_at).toBe(made.body.created_at);
    expect((await put("Claude:latest_1.0", "ann/own", ann.key)).status).toBe(201);
    const first = await list(ann.key, "?page_size=1");
    expect(first).toMatchObject({ total_count: 2, total_pages: 2, page: 1, page_size: 1 });
    const second = await list(ann.key, "?page_size=1&page=2");
    const names = [first, second].flatMap(({ results }) => results.map(({ name }: { name: string }) => name));
    expect(names.toSorted()).toEqual(["Claude:latest_1.0", "gpt-4o"]);
    for (const name of names) expect((await remove(name, ann.key)).status).toBe(204);
    expect((await list(ann.key)).results).toEqual([]);
  });

  test("belong to their user", async () => {
    await put("fast", "gantry/text", ann.key);
    expect((await put("fast", "gantry/rules", bob.key)).status).toBe(201);
    expect((await list(ann.key)).results).toMatchObject([{ name: "fast", model: "gantry/text" }]);
    expect((await remove("fast", bob.key)).status).toBe(204);
    const again = await remove("fast", bob.key);
    expect([again.status, again.body.detail]).toEqual([404, "Alias not found"]);
    expect((await list(ann.key)).results).toHaveLength(1);
    await remove("fast", ann.key);
  });

  test("422 names an invalid name and a model that the user may not call, both at once", async () => {
    const hint = "An alias has 1 to 63 characters: letters, digits, ., _, : and -.";
    for (const name of ["-a", ".a", "a%2Fb", "a%20b", "é", "a".repeat(64)]) {
      const answer = await put(name, "gantry/text", ann.key);
      expect([answer.status, issues(answer)[0][0]], answer.text).toEqual([422, ["path", "name"]]);
      expect(issues(answer)[0][1]).toContain(hint);
      expect((await remove(name, ann.key)).status).toBe(404);
    }
    const both = await put("-", "bob/none", ann.key);
    expect(issues(both)).toMatchObject([
      [["path", "name"], expect.stringContaining(hint)],
      [["body", "model"], "Model bob/none does not exist, or you may not call it"],
    ]);
    const forbidden = await put("a", "ann/own", bob.key);
    expect(forbidden.text.replaceAll("ann/own", "ann/none")).toBe((await put("a", "ann/none", bob.key)).text);
    for (const model of ["", "text", "a/b/c", "agents/ann", "agents/ann/a/b", "gantry/text ", 7, null, undefined]) {
      const answer = await put("a", model, ann.key);
      expect([answer.status, issues(answer)[0][0]], answer.text).toEqual([422, ["body", "model"]]);
    }
    expect((await list(ann.key)).total_count).toBe(0);
  });

  test("an agent must be published, and public or the user's own", async () => {
    const json = { name: "Helper", goal: "Help.", tools: [], model: "gantry/rules" };
    const made = await gantry.call("POST", "/v1/agents", { key: ann.key, json });
    const name = `agents/ann/${made.body.slug}`;
    const unpublished = await put("help", name, ann.key);
    expect([unpublished.status, issues(unpublished)]).toEqual([
      422,
      [[["body", "model"], `Agent ${name} does not exist, is not published, or you may not run it`]],
    ]);
    await gantry.call("POST", `/v1/agents/${made.body.id}/publish`, { key: ann.key, json: {} });
    expect((await put("help", name, ann.key)).status).toBe(201);
    expect((await put("help", name, bob.key)).status).toBe(422);
    await gantry.call("PATCH", `/v1/agents/${made.body.id}`, { key: ann.key, json: { visibility: "public" } });
    expect((await put("help", name, bob.key)).status).toBe(201);
    for (const { key } of [ann, bob]) await remove("help", key);
  });

  test("a user has at most 1,000 of them, also when requests race", async () => {
    const { sql } = gantry.database;
    const [owner] = await sql<{ id: string }[]>`select id from users where username = 'bob'`;
    await sql`
      insert into model_aliases (owner_id, name, model)
      select ${owner?.id ?? ""}, 'n' || n, 'gantry/text' from generate_series(1, 998) n`;
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => put(`race-${n}`, "gantry/text", bob.key)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(2);
    const refused = answers.find(({ status }) => status !== 201) as Answer;
    expect([refused.status, issues(refused)]).toEqual([
      422,
      [[["path", "name"], "The limit of 1,000 aliases is reached. Delete one first."]],
    ]);
    expect((await put("n1", "gantry/rules", bob.key)).status).toBe(200);
    expect((await list(bob.key)).total_count).toBe(1000);
    expect((await put("mine", "gantry/text", ann.key)).status).toBe(201);
    await sql`delete from model_aliases where owner_id = ${owner?.id ?? ""}`;
    await remove("mine", ann.key);
  });
});

describe("aliases for all users", () => {
  test("are managed by admins only", async () => {
    for (const [method, path] of [
      ["GET", ""],
      ["PUT", "/fast"],
      ["DELETE", "/fast"],
    ] as const) {
      const json = method === "PUT" ? { json: { model: "gantry/text" } } : {};
      const answer = await gantry.call(method, `/api/v2/admin/aliases${path}`, { key: ann.key, ...json });
      expect([answer.status, answer.body.detail]).toEqual([403, "Only an admin may do this"]);
    }
    expect((await putShared("fast", "gantry/text")).status).toBe(201);
    expect((await putShared("fast", "gantry/rules")).status).toBe(200);
    const listed = (await gantry.call("GET", "/api/v2/admin/aliases")).body;
    expect(listed).toMatchObject({ total_count: 1, results: [{ name: "fast", model: "gantry/rules" }] });
    expect((await list(gantry.adminKey)).results).toEqual([]);
    expect((await gantry.call("DELETE", "/api/v2/admin/aliases/fast")).status).toBe(204);
    expect((await gantry.call("DELETE", "/api/v2/admin/aliases/fast")).status).toBe(404);
  });

  test("may name what not every user can call, if it exists", async () => {
    expect((await putShared("secret", "ann/own")).status).toBe(201);
    const missing = await putShared("secret", "ann/none");
    expect([missing.status, issues(missing)]).toEqual([422, [[["body", "model"], "Model ann/none does not exist"]]]);
    const json = { name: "Draft", goal: "Help.", tools: [], model: "gantry/rules" };
    const { slug } = (await gantry.call("POST", "/v1/agents", { key: ann.key, json })).body;
    expect((await putShared("draft", `agents/ann/${slug}`)).status).toBe(201);
    const absent = await putShared("draft", "agents/ann/none");
    expect(issues(absent)).toEqual([[["body", "model"], "Agent agents/ann/none does not exist"]]);
    for (const name of ["secret", "draft"]) await gantry.call("DELETE", `/api/v2/admin/aliases/${name}`);
  });
});

test("a limited key manages aliases, a confined one neither lists nor manages them", async () => {
  const newKey = async (json: object) => (await gantry.call("POST", "/api/v2/keys", { key: ann.key, json })).body.key;
  const confined = await newKey({ models: ["gantry/text"] });
  for (const answer of [
    await put("fast", "gantry/text", confined),
    await remove("fast", confined),
    await gantry.call("GET", "/api/v2/aliases", { key: confined }),
  ]) {
    expect([answer.status, answer.text], answer.text).toEqual([
      403,
      expect.stringMatching(/manage aliases|list aliases/),
    ]);
  }
  const limited = await newKey({ monthly_limit: 1 });
  expect((await put("fast", "gantry/text", limited)).status).toBe(201);
  expect((await remove("fast", limited)).status).toBe(204);
});
