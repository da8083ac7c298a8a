import { revisionRecord } from "@gantry/wire";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AgentsUnderTest, agentsUnderTest, wholeAgent as whole } from "../../../test/support/agents.ts";

let bench: AgentsUnderTest;
beforeAll(async () => {
  bench = await agentsUnderTest({
    drives: { ann: ["drv_ann"], bob: ["drv_bob"] },
    toolServers: { ann: ["mcp_ann"], bob: ["mcp_bob"] },
  });
  for (const username of ["ann", "bob", "cyd"]) await bench.newUser(username);
});
afterAll(() => bench.close());

const call: AgentsUnderTest["call"] = (...args) => bench.call(...args);
const make: AgentsUnderTest["makeAgent"] = (...args) => bench.makeAgent(...args);

describe("publishing", () => {
  test("the latest, then another: the one before becomes superseded; and back again", async () => {
    const id = await make("ann", { visibility: "public" });
    const first = (await call("GET", `/v1/agents/${id}`, "ann")).body.latest_revision_id;
    const published = await call("POST", `/v1/agents/${id}/publish`, "ann");
    expect(published.status).toBe(200);
    expect(published.body).toMatchObject({ id, status: "published", published_revision_id: first });

    const second = (await call("PATCH", `/v1/agents/${id}`, "ann", { name: "Two" })).body.latest_revision_id;
    const between = (await call("GET", `/v1/agents/${id}`, "ann")).body;
    expect(between).toMatchObject({ name: "Two", published_revision_id: first, latest_revision_id: second });
    expect((await call("GET", `/v1/agents/${id}`, "bob")).body).toMatchObject({ name: "Agent" });

    await call("POST", `/v1/agents/${id}/publish/`, "ann", {});
    const statuses = async () =>
      Object.fromEntries(
        (await call("GET", `/v1/agents/${id}/revisions`, "ann")).body.revisions.map(
          (r: { id: string; status: string }) => [r.id, r.status],
        ),
      );
    expect(await statuses()).toEqual({ [first]: "superseded", [second]: "published" });
    expect((await call("GET", `/v1/agents/${id}`, "bob")).body).toMatchObject({ name: "Two" });

    const back = await call("POST", `/v1/agents/${id}/publish`, "ann", { revision_id: first });
    expect(back.body).toMatchObject({ name: "Two", published_revision_id: first, latest_revision_id: second });
    expect(await statuses()).toEqual({ [first]: "published", [second]: "superseded" });
    const again = await call("POST", `/v1/agents/${id}/publish`, "ann", { revision_id: first });
    expect(again.body).toEqual(back.body);
  });

  test("400 and 404", async () => {
    const id = await make("ann");
    const other = (await call("GET", `/v1/agents/${await make("ann")}`, "ann")).body.latest_revision_id;
    for (const revision_id of [other, "rev_x", "x"]) {
      const answer = await call("POST", `/v1/agents/${id}/publish`, "ann", { revision_id });
      expect([answer.status, answer.body.error.message]).toEqual([404, "Revision not found"]);
    }
    for (const body of [{ revision_id: 7 }, { revision: "x" }, []]) {
      const answer = await call("POST", `/v1/agents/${id}/publish`, "ann", body);
      expect([answer.status, answer.body.error.type]).toEqual([400, "invalid_input"]);
    }
  });

  test("of two that would close a circle at the same moment one is refused", async () => {
    for (let round = 0; round < 5; round++) {
      const [a, b] = await Promise.all([make("ann"), make("ann")]);
      const bind = async (from: string, tools: object[]) =>
        (await call("PATCH", `/v1/agents/${from}`, "ann", { tools })).body.latest_revision_id;
      const next = (agent_id: string) => [{ type: "agent", agent_id, name: "next" }];
      const toB = await bind(a, next(b));
      await bind(a, []);
      const toA = await bind(b, next(a));
      const publish = (id: string, revision_id: string) =>
        call("POST", `/v1/agents/${id}/publish`, "ann", { revision_id });
      const answers = await Promise.all([publish(a, toB), publish(b, toA)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    }
  });

  test("at one moment from many sides, one is published", async () => {
    const id = await make("ann");
    const revisions = [];
    for (const name of ["A", "B", "C", "D"]) {
      revisions.push((await call("PATCH", `/v1/agents/${id}`, "ann", { name })).body.latest_revision_id);
    }
    const answers = await Promise.all(
      revisions.map((revision_id) => call("POST", `/v1/agents/${id}/publish`, "ann", { revision_id })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    const { revisions: after } = (await call("GET", `/v1/agents/${id}/revisions`, "ann")).body;
    expect(after.filter(({ status }: { status: string }) => status === "published")).toHaveLength(1);
    expect(after.filter(({ status }: { status: string }) => status === "superseded")).toHaveLength(3);
  });
});

describe("revisions", () => {
  test("the list, newest first and in pages; one; and the difference", async () => {
    const id = await make("ann", { ...whole, name: "One" });
    const made = (await call("GET", `/v1/agents/${id}`, "ann")).body;
    const first = made.latest_revision_id;
    const patch = {
      name: "Two",
      tools: ["run_javascript", "run_model", { type: "agent", agent_id: await make("ann", { name: "Helper" }) }],
      drives: [],
      mcp_servers: [{ id: "mcp_ann" }],
      memory: { drive: "drv_ann" },
      input_schema: { type: "object", properties: { city: { type: "string" }, days: { type: "array" } } },
    };
    const second = (await call("PATCH", `/v1/agents/${id}`, "ann", patch)).body.latest_revision_id;
    const helper = (patch.tools[2] as { agent_id: string }).agent_id;

    const list = await call("GET", `/v1/agents/${id}/revisions/`, "ann");
    expect(list.status).toBe(200);
    expect(list.body).toEqual({
      revisions: [
        { id: second, number: 2, status: "draft", created_at: expect.any(String) },
        { id: first, number: 1, status: "draft", created_at: made.created_at },
      ],
      total: 2,
      limit: 100,
      offset: 0,
    });
    const page = await call("GET", `/v1/agents/${id}/revisions?limit=1&offset=1`, "ann");
    expect(page.body).toMatchObject({ revisions: [{ id: first }], total: 2, limit: 1, offset: 1 });
    expect((await call("GET", `/v1/agents/${id}/revisions?limit=0`, "ann")).status).toBe(400);

    const snapshot = await call("GET", `/v1/agents/${id}/revisions/${first}`, "ann");
    expect(snapshot.status).toBe(200);
    expect(revisionRecord.strict().parse(snapshot.body)).toEqual(snapshot.body);
    expect(snapshot.body).toMatchObject({ ...whole, name: "One", id: first, agent_id: id, status: "draft" });

    const changes = {
      name: { old: "One", new: "Two" },
      tools: { added: ["run_model", `agent:${helper}`], removed: ["http_request"], changed: ["run_javascript"] },
      drives: { added: [], removed: ["drv_ann"] },
      mcp_servers: { added: [], removed: [], changed: ["mcp_ann"] },
      memory: { old: null, new: { drive: "drv_ann", path: "/memory.md" } },
      input_schema: { old: whole.input_schema, new: patch.input_schema },
    };
    const diff = await call("GET", `/v1/agents/${id}/revisions/${second}/diff`, "ann");
    expect([diff.status, diff.body]).toEqual([200, { changes }]);
    const against = await call("GET", `/v1/agents/${id}/revisions/${first}/diff?against=${second}`, "ann");
    expect(against.body.changes.name).toEqual({ old: "Two", new: "One" });
    const same = await call("GET", `/v1/agents/${id}/revisions/${first}/diff?against=${first}`, "ann");
    expect(same.body).toEqual({ changes: {} });
    const start = await call("GET", `/v1/agents/${id}/revisions/${first}/diff`, "ann");
    expect(start.body.changes).toMatchObject({
      name: { old: null, new: "One" },
      tools: { added: ["http_request", "run_javascript"], removed: [] },
    });
  });

  test("404 for an unknown revision, one of another agent, one of another user", async () => {
    const [id, other] = [await make("ann"), await make("ann", { visibility: "public" })];
    await call("POST", `/v1/agents/${other}/publish`, "ann");
    const revision = (await call("GET", `/v1/agents/${other}`, "ann")).body.latest_revision_id;
    const own = (await call("GET", `/v1/agents/${id}`, "ann")).body.latest_revision_id;
    for (const rid of [revision, "rev_x"]) {
      expect((await call("GET", `/v1/agents/${id}/revisions/${rid}`, "ann")).status).toBe(404);
      expect((await call("GET", `/v1/agents/${id}/revisions/${rid}/diff`, "ann")).status).toBe(404);
      expect((await call("GET", `/v1/agents/${id}/revisions/${own}/diff?against=${rid}`, "ann")).status).toBeOneOf([
        400, 404,
      ]);
    }
    for (const path of ["", `/${revision}`, `/${revision}/diff`]) {
      expect((await call("GET", `/v1/agents/${other}/revisions${path}`, "bob")).status).toBe(404);
    }
  });
});
