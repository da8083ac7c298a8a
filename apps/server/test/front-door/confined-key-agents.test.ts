import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentRuns, startAgentRuns } from "../support/agent-runs.ts";
import type { Answer } from "../support/gantry.ts";
import { inTurn } from "../support/scripted-llm.ts";

let t: AgentRuns;
/** The owner's own key, and one that was made for an application. */
let whole: { key: string };
let confined: { key: string };
let drive: string;
let server: string;
/** An agent of the owner on a model that the confined key does not reach. */
let onRules: string;

beforeAll(async () => {
  t = await startAgentRuns();
  whole = { key: await t.gantry.newUser("alice") };
  const made = await t.gantry.call("POST", "/api/v2/keys", { ...whole, json: { models: ["admin/llm"] } });
  confined = { key: made.body.key };
  drive = (await t.gantry.call("POST", "/v1/drives", { ...whole, json: { name: "Papers" } })).body.id;
  const form = { path: "/s.txt", file: new Blob(["the plan"], { type: "text/plain" }) };
  expect((await t.gantry.call("POST", `/v1/drives/${drive}/files`, { ...whole, form })).status).toBe(201);
  const url = "http://127.0.0.1:9/mcp";
  const registered = await t.gantry.call("POST", "/v1/mcp-servers", {
    ...whole,
    json: { name: "tools", url, connection_type: "streamable_http" },
  });
  expect(registered.status, registered.text).toBe(201);
  server = registered.body.id;
  onRules = await t.makeAgent({ model: "gantry/rules" }, whole);
});
afterAll(() => t.close());

const agents = (method: string, path: string, json?: unknown, by: { key: string } = confined) =>
  t.gantry.call(method, `/v1/agents${path}`, { ...by, ...(json !== undefined && { json }) });
const plain = (fields: object = {}) => ({ name: "A", goal: "Do it.", tools: [], model: "admin/llm", ...fields });

function forbidden(answer: Answer, why: string): void {
  expect([answer.status, answer.body.error?.type], answer.text).toEqual([403, "forbidden"]);
  expect(answer.body.error.message).toBe(`This key is confined to some models and may not manage agents ${why}`);
}

/** All that a confined key may not have in an agent, and how it is told. */
const beyond: readonly (readonly [string, () => object, string])[] = [
  ["drives", () => ({ tools: ["drive_read"], drives: [drive] }), "that use drives"],
  ["tool servers", () => ({ mcp_servers: [{ id: server }] }), "that use tool servers"],
  ["an action of the connector", () => ({ tools: ["idp_users_list"] }), "that use the connector"],
  [
    "an action of the connector with more to it",
    () => ({ tools: [{ type: "tool", id: "idp_role_delete", confirm: "always" }] }),
    "that use the connector",
  ],
  ["another model", () => ({ model: "gantry/rules" }), "on models that it does not reach"],
  ["a model that is not there", () => ({ model: "admin/none" }), "on models that it does not reach"],
  [
    "an agent on another model",
    () => ({ tools: [{ type: "agent", agent_id: onRules, name: "below" }] }),
    "that call agents on models that it does not reach",
  ],
];

/** Of the owner: what stands, as the owner sees it. */
const standing = async (id: string) => {
  const { updated_at: _, ...agent } = (await agents("GET", `/${id}`, undefined, whole)).body;
  return { agent, revisions: (await agents("GET", `/${id}/revisions`, undefined, whole)).body.revisions };
};

/** Every way to change an agent is refused, and nothing is changed. */
async function refusesEverything(id: string, why: string): Promise<void> {
  const before = await standing(id);
  forbidden(await agents("PATCH", `/${id}`, { goal: "Other." }), why);
  forbidden(await agents("PATCH", `/${id}`, { visibility: "public" }), why);
  // Not even to take away what it may not have, and before a body is looked at.
  forbidden(await agents("PATCH", `/${id}`, plain({ drives: [], mcp_servers: [] })), why);
  forbidden(await agents("PATCH", `/${id}`, { goal: 1 }), why);
  forbidden(await agents("POST", `/${id}/publish`, {}), why);
  for (const { id: revision } of before.revisions) {
    forbidden(await agents("POST", `/${id}/publish`, { revision_id: revision }), why);
  }
  forbidden(await agents("DELETE", `/${id}`), why);
  expect(await standing(id)).toEqual(before);
}

describe.each(beyond)("an agent with %s", (_name, fields, why) => {
  test("is not made with a confined key, nor changed into one", async () => {
    const count = async () => (await agents("GET", "", undefined, whole)).body.total;
    const before = await count();
    forbidden(await agents("POST", "", plain(fields())), why);
    expect(await count()).toBe(before);
    const id = await t.makeAgent({}, confined);
    const stood = await standing(id);
    forbidden(await agents("PATCH", `/${id}`, fields()), why);
    expect(await standing(id)).toEqual(stood);
    expect((await agents("DELETE", `/${id}`)).status).toBe(204);
  });
});

describe.each(beyond.filter(([name]) => !name.includes("not there")))(
  "an agent of the owner with %s",
  (_name, fields, why) => {
    test("is neither changed, published nor deleted with a confined key", async () => {
      await refusesEverything(await t.makeAgent(fields(), whole), why);
    });

    test("nor where only the draft has it", async () => {
      const id = await t.makeAgent({}, whole);
      expect((await agents("PATCH", `/${id}`, fields(), whole)).status).toBe(200);
      await refusesEverything(id, why);
    });

    test("nor where only what is published has it", async () => {
      const id = await t.makeAgent(fields(), whole);
      const without = plain({ drives: [], mcp_servers: [] });
      expect((await agents("PATCH", `/${id}`, without, whole)).status).toBe(200);
      await refusesEverything(id, why);
    });

    test("a revision from before that has it is not the way back", async () => {
      const id = await t.makeAgent(fields(), whole);
      const first = (await standing(id)).agent.published_revision_id;
      expect((await agents("PATCH", `/${id}`, plain({ drives: [], mcp_servers: [] }), whole)).status).toBe(200);
      expect((await agents("POST", `/${id}/publish`, {}, whole)).status).toBe(200);
      const stood = await standing(id);
      forbidden(await agents("POST", `/${id}/publish`, { revision_id: first }), why);
      expect(await standing(id)).toEqual(stood);
      expect((await agents("PATCH", `/${id}`, { goal: "Now it may." })).status).toBe(200);
    });
  },
);

describe("a confined key", () => {
  test("makes, changes, publishes and deletes agents on its models", async () => {
    const below = await t.makeAgent({ name: "Below" }, whole);
    const tools = ["run_javascript", { type: "agent", agent_id: below, name: "below" }];
    const made = await agents("POST", "", plain({ tools }));
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    expect((await agents("PATCH", `/${id}`, { goal: "Better." })).body).toMatchObject({ goal: "Better." });
    expect((await agents("POST", `/${id}/publish`)).body).toMatchObject({ status: "published" });
    const first = made.body.revision_id;
    expect((await agents("POST", `/${id}/publish`, { revision_id: first })).body.published_revision_id).toBe(first);
    expect((await agents("PATCH", `/${id}`, { goal: 1 })).status).toBe(400);
    expect((await agents("PATCH", "/agt_none", {})).status).toBe(404);
    expect((await agents("DELETE", `/${id}`)).status).toBe(204);
    expect((await agents("DELETE", `/${id}`)).status).toBe(404);
  });

  test("may not use the default model by leaving it out", async () => {
    forbidden(await agents("POST", "", { name: "A", goal: "x", tools: [] }), "on models that it does not reach");
  });

  test("counts what another's public agent works with, as that is published", async () => {
    const theirs = await t.makeAgent({ model: "gantry/rules", visibility: "public" });
    const binding = { tools: [{ type: "agent", agent_id: theirs, name: "theirs" }] };
    forbidden(await agents("POST", "", plain(binding)), "that call agents on models that it does not reach");
    const now = { ...plain(), visibility: "public" };
    expect((await t.gantry.call("PATCH", `/v1/agents/${theirs}`, { json: now })).status).toBe(200);
    forbidden(await agents("POST", "", plain(binding)), "that call agents on models that it does not reach");
    expect((await t.gantry.call("POST", `/v1/agents/${theirs}/publish`, { json: {} })).status).toBe(200);
    expect((await agents("POST", "", plain(binding))).status).toBe(201);
  });

  test("is not told what another's private agent works with", async () => {
    for (const model of ["gantry/rules", "admin/llm"]) {
      const theirs = await t.makeAgent({ model });
      const answer = await agents("POST", "", plain({ tools: [{ type: "agent", agent_id: theirs, name: "theirs" }] }));
      expect([answer.status, answer.body.error.details[0].loc]).toEqual([400, ["body", "tools", 0, "agent_id"]]);
    }
  });

  test("runs an agent of its owner with the drives that were given to it", async () => {
    const id = await t.makeAgent({ tools: ["drive_read"], drives: [drive] }, whole);
    t.llm.requests.length = 0;
    t.llm.script = inTurn({ calls: [{ name: "drive_read", args: { path: "/s.txt" } }] }, { text: "done" });
    const done = await t.run(id, {}, confined);
    expect(done.body, done.text).toMatchObject({ status: "done" });
    expect(t.told(1)[0]).toContain("the plan");
  });

  test("is refused what its owner put into the agent while it was being changed", async () => {
    for (let round = 0; round < 5; round++) {
      const id = await t.makeAgent({}, whole);
      const added = agents("PATCH", `/${id}`, { tools: ["drive_read"], drives: [drive] }, whole);
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, n) => agents("PATCH", `/${id}`, { goal: `Change ${n}`, drives: [] })),
      );
      expect((await added).status).toBe(200);
      for (const { status, text } of answers) expect([200, 403], text).toContain(status);
      // Whichever came first, nothing was taken away after it had been put in.
      expect((await standing(id)).agent.drives).toEqual([drive]);
    }
  });
});

describe("what an agent is sold for", () => {
  const priced = { pricing: { per_run: 0.25 } };
  const sold = { ...priced, visibility: "public" };
  const told = (doing: string) => [403, `This key is confined to some models and may not ${doing}`];
  const limitedTold = [403, "This key has a monthly limit and may not change the price of agents"];
  const answered = ({ status, body }: Answer) => [status, body.error?.message];

  test("is not changed with a confined key, nor who sees it, nor what of it is published", async () => {
    const id = await t.makeAgent(sold, whole);
    const before = await standing(id);
    for (const pricing of [{ per_run: 0 }, { per_run: 9 }]) {
      expect(answered(await agents("PATCH", `/${id}`, { pricing }))).toEqual(told("change the price of agents"));
    }
    expect(answered(await agents("PATCH", `/${id}`, { visibility: "private" }))).toEqual(
      told("change who sees an agent"),
    );
    expect(answered(await agents("POST", `/${id}/publish`))).toEqual(
      told("publish agents that are public or have a price"),
    );
    expect(await standing(id)).toEqual(before);
    expect((await agents("PATCH", `/${id}`, { goal: "A draft.", ...sold })).status).toBe(200);
  });

  test("is not put on sale with a confined key", async () => {
    expect(answered(await agents("POST", "", plain(priced)))).toEqual(told("change the price of agents"));
    expect(answered(await agents("POST", "", plain({ visibility: "public" })))).toEqual(
      told("change who sees an agent"),
    );
    const made = await agents("POST", "", plain({ visibility: "private", pricing: { per_run: 0 } }));
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    expect((await agents("POST", `/${id}/publish`)).status).toBe(200);
    expect((await agents("PATCH", `/${id}`, priced, whole)).status).toBe(200);
    expect(answered(await agents("POST", `/${id}/publish`))).toEqual(told("change the price of agents"));
    // Nor taken off: a revision from before that cost nothing.
    expect((await agents("POST", `/${id}/publish`, {}, whole)).status).toBe(200);
    const first = { revision_id: made.body.revision_id };
    expect(answered(await agents("POST", `/${id}/publish`, first))).toEqual(told("change the price of agents"));
  });

  test("is not changed with a key that has a monthly limit; all else of an agent is", async () => {
    const made = await t.gantry.call("POST", "/api/v2/keys", { ...whole, json: { monthly_limit: 1 } });
    const limited = { key: made.body.key };
    const id = await t.makeAgent(sold, whole);
    const { published_revision_id: first } = (await standing(id)).agent;
    expect(answered(await agents("PATCH", `/${id}`, { pricing: { per_run: 0 } }, limited))).toEqual(limitedTold);
    expect(answered(await agents("POST", "", plain(priced), limited))).toEqual(limitedTold);
    expect((await agents("PATCH", `/${id}`, { goal: "Better.", visibility: "private" }, limited)).status).toBe(200);
    expect((await agents("POST", `/${id}/publish`, {}, limited)).status).toBe(200);
    expect((await agents("PATCH", `/${id}`, { pricing: { per_run: 9 } }, whole)).status).toBe(200);
    expect(answered(await agents("POST", `/${id}/publish`, {}, limited))).toEqual(limitedTold);
    expect((await agents("POST", `/${id}/publish`, { revision_id: first }, limited)).status).toBe(200);
    const own = await agents("POST", "", plain({ visibility: "public" }), limited);
    expect((await agents("POST", `/${own.body.id}/publish`, {}, limited)).status).toBe(200);
  });
});
