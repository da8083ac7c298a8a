import { describe, expect, test } from "vitest";
import { gate, useRunsPlatform } from "../../support/runs-platform.ts";
import { toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform({ pricing: {} });
const { makeAgent, run, start, ended } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);
const balanceOf = async (key: string) => {
  const { body } = await call("GET", "/api/v2/me", { key });
  return { balance: body.balance, reserved: body.reserved };
};
const childrenOf = async (runId: string, key: string) =>
  (await call("GET", `/v1/runs?parent_run_id=${runId}`, { key })).body.runs;
const forSale = (perRun: number) => ({ visibility: "public", goal: "Child.", pricing: { per_run: perRun } });
const asTool = (agentId: string) => ({ type: "agent", agent_id: agentId, name: "expert" });

/** The parent calls the child once, after `before`, and answers with its result; the child answers with its goal. */
function parentCalls(args: object = {}, before: Promise<void> = Promise.resolve()): void {
  platform.llm.script = async (request) => {
    const goal = request.messages[1]?.content ?? "";
    if (!goal.startsWith("Parent.")) return { text: `I am ${goal}` };
    await before;
    const results = toolResults(request);
    return results.length === 0 ? { calls: [{ name: "expert", args }] } : { text: results.join(" | ") };
  };
}

async function change(agentId: string, key: string, fields: object): Promise<void> {
  const changed = await call("PATCH", `/v1/agents/${agentId}`, { key, json: fields });
  expect(changed.status, changed.text).toBe(200);
  const published = await call("POST", `/v1/agents/${agentId}/publish`, { key, json: {} });
  expect(published.status, published.text).toBe(200);
}

/** A run whose sub-agent changes during the run's first model call. */
async function whileThinking(options: {
  args?: object;
  child?: object;
  key?: object;
  change(child: string, creatorKey: string): Promise<unknown>;
}) {
  const creator = await platform.newUser({ credit: 0 });
  const caller = await platform.newUser({ credit: 1, key: options.key ?? {} });
  const whole = (await call("POST", `/api/v2/admin/users/${caller.name}/keys`, { json: {} })).body.key;
  const child = await makeAgent({ ...forSale(0.25), ...options.child }, creator.key);
  const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child)] }, whole);
  const held = gate();
  parentCalls(options.args, held.promise);
  const id = await start(parent, {}, caller);
  await waitFor("the first thought", () => platform.llm.open === 1);
  await options.change(child, creator.key);
  held.open();
  const seen = await ended(id, whole);
  return { seen, child, children: await childrenOf(id, whole), caller: await balanceOf(whole), creator };
}

describe("a sub-agent of a live run that was", () => {
  test("deleted meanwhile is not run: the model learns that it is missing, and nothing is charged", async () => {
    const { seen, children, caller } = await whileThinking({
      change: (child, key) => call("DELETE", `/v1/agents/${child}`, { key }),
    });
    expect(seen).toMatchObject({ status: "done", cost: 0 });
    expect(seen.output.text).toBe("The agent was not run: Agent not found");
    expect(children).toEqual([]);
    expect(caller).toEqual({ balance: 1, reserved: 0 });
  });

  test("made private meanwhile is not run for others, but still for its creator's agents", async () => {
    const { seen, children, creator, child } = await whileThinking({
      change: (agentId, key) => call("PATCH", `/v1/agents/${agentId}`, { key, json: { visibility: "private" } }),
    });
    expect(seen).toMatchObject({ status: "done", cost: 0 });
    expect(seen.output.text).toContain("Agent not found");
    expect(children).toEqual([]);
    const own = await makeAgent({ goal: "Parent.", tools: [asTool(child)] }, creator.key);
    expect((await run(own, {}, creator)).body.output.text).toContain("I am Child.");
  });

  test("republished meanwhile runs in its new form at its new price", async () => {
    const { seen, children, caller, creator, child } = await whileThinking({
      change: (agentId, key) => change(agentId, key, { goal: "Child of tomorrow.", pricing: { per_run: 0.5 } }),
    });
    expect(seen).toMatchObject({ status: "done", cost: 0.5 });
    expect(seen.output.text).toContain("I am Child of tomorrow.");
    const { published_revision_id: published } = (await call("GET", `/v1/agents/${child}`, creator)).body;
    expect(children).toMatchObject([{ status: "done", cost: 0.5, revision_id: published }]);
    expect(caller).toEqual({ balance: 0.5, reserved: 0 });
    expect(await balanceOf(creator.key)).toEqual({ balance: 0.5, reserved: 0 });
  });

  test("republished with another input is not run with an invalid one", async () => {
    const input_schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    const { seen, children } = await whileThinking({
      args: { town: "Oslo" },
      change: (child, key) => change(child, key, { input_schema }),
    });
    expect(seen.output.text).toContain("The arguments are invalid");
    expect(seen.output.text).toContain("city");
    expect(children).toEqual([]);
    const fitting = await whileThinking({
      args: { city: "Oslo" },
      change: (child, key) => change(child, key, { input_schema, goal: "Child of {{city}}." }),
    });
    expect(fitting.seen.output.text).toContain("I am Child of Oslo.");
  });

  test("republished with another input is offered with it from then on", async () => {
    const taking = (field: string) => {
      const properties = { [field]: { type: "string" } };
      return { input_schema: { type: "object", properties, required: [field], additionalProperties: false } };
    };
    const creator = await platform.newUser({ credit: 0 });
    const user = await platform.newUser({ credit: 1 });
    const child = await makeAgent({ ...forSale(0.25), ...taking("town") }, creator.key);
    const parent = await makeAgent({ goal: "Parent.", tools: [asTool(child)] }, user.key);
    const offered: string[][] = [];
    platform.llm.script = async (request) => {
      if (!request.messages[1]?.content?.startsWith("Parent.")) return { text: "from below" };
      const { required = [] } = (request.tools?.[0]?.function.parameters ?? {}) as { required?: string[] };
      offered.push(required);
      if (offered.length === 1) await change(child, creator.key, taking("city"));
      if (toolResults(request).at(-1)?.includes("from below")) return { text: "done" };
      return { calls: [{ name: "expert", args: { [required[0] ?? ""]: "Oslo" } }] };
    };
    const { body } = await run(parent, {}, user);
    expect(body, JSON.stringify(body)).toMatchObject({ status: "done", cost: 0.25 });
    expect(offered.slice(0, 2)).toEqual([["town"], ["city"]]);
    expect(await childrenOf(body.id, user.key)).toMatchObject([{ status: "done", input: { city: "Oslo" } }]);
    const results = (await platform.events(body.id, user.key)).filter(({ type }) => type === "tool_result");
    expect(results[0].result).toContain("The arguments are invalid");
  });

  test("republished on another model is not run for a key that cannot use it", async () => {
    await platform.makeModel("other", { pricing: {} });
    const { seen, children } = await whileThinking({
      key: { models: ["admin/llm"] },
      change: (child, key) => change(child, key, { model: "admin/other" }),
    });
    expect(seen.output.text).toContain("The agent was not run: The API key that started the run does not have access");
    expect(children).toEqual([]);
  });

  test("deleted after its run started: that run continues", async () => {
    const user = await platform.newUser();
    const child = await makeAgent({ goal: "Child." }, user.key);
    const tools = [asTool(child), { type: "tool", id: "run_javascript", confirm: "always" }];
    const parent = await makeAgent({ goal: "Parent.", tools }, user.key);
    const held = gate();
    platform.llm.script = async (request) => {
      const results = toolResults(request);
      if (!request.messages[1]?.content?.startsWith("Parent."))
        return held.promise.then(() => ({ text: "from below" }));
      if (results.length > 0) return { text: results.join(" | ") };
      return {
        calls: [
          { name: "expert", args: {} },
          { name: "run_javascript", args: { code: "6 * 7" } },
        ],
      };
    };
    const id = await start(parent, {}, user);
    await waitFor("the child to think", () => platform.llm.requests.length === 2);
    await call("DELETE", `/v1/agents/${child}`, user);
    const path = `/v1/runs/${id}/confirmations`;
    const [question] = (await call("GET", path, user)).body.confirmations;
    await call("POST", `${path}/${question.id}`, { ...user, json: { approve: true } });
    await waitFor("the approved call", async () => {
      const events = await platform.events(id, user.key);
      return events.some(({ type, result }) => type === "tool_result" && result.includes("42"));
    });
    held.open();
    const seen = await ended(id, user.key);
    expect(seen.output.text).toContain("from below");
    expect(seen.output.text).not.toContain("no longer exists");
  });
});

describe("the price of a sub-agent", () => {
  const dearChild = async (perRun: number, callers: object) => {
    const expert = await platform.newUser({ credit: 0 });
    const reseller = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser(callers);
    const child = await makeAgent(forSale(perRun), expert.key);
    const parent = await makeAgent({ visibility: "public", goal: "Parent.", tools: [asTool(child)] }, reseller.key);
    parentCalls();
    return { expert, caller, parent };
  };

  test("never exceeds the balance: the run ends as insufficient_funds, and nothing is charged", async () => {
    const { expert, caller, parent } = await dearChild(500, { credit: 1 });
    const { body } = await run(parent, {}, caller);
    expect(body).toMatchObject({ status: "error", error: { type: "insufficient_funds" }, cost: 0 });
    expect(body.error.message).toContain("price");
    expect(await childrenOf(body.id, caller.key)).toEqual([]);
    expect(await balanceOf(caller.key)).toEqual({ balance: 1, reserved: 0 });
    expect((await balanceOf(expert.key)).balance).toBe(0);
    // A caller who starts it knows its price, and may go below zero once as usual.
    const { body: own } = await run((await dearChild(0, { credit: 1 })).parent, {}, caller);
    expect(own.status).toBe("done");
  });

  test("may be the whole balance, to the last micro-dollar", async () => {
    const { expert, caller, parent } = await dearChild(1, { credit: 1 });
    expect((await run(parent, {}, caller)).body).toMatchObject({ status: "done", cost: 1 });
    expect(await balanceOf(caller.key)).toEqual({ balance: 0, reserved: 0 });
    expect((await balanceOf(expert.key)).balance).toBe(1);
    const short = await dearChild(1, { credit: 0.999999 });
    expect((await run(short.parent, {}, short.caller)).body.error.type).toBe("insufficient_funds");
    expect((await balanceOf(short.caller.key)).balance).toBe(0.999999);
  });

  test("is charged as often as the balance covers it, however many calls are concurrent", async () => {
    const { expert, caller, parent } = await dearChild(0.3, { credit: 1 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => run(parent, {}, caller)));
    const done = answers.filter(({ body }) => body.status === "done");
    for (const { body } of answers) if (body.status !== "done") expect(body.error.type).toBe("insufficient_funds");
    expect(done).toHaveLength(3);
    expect((await balanceOf(caller.key)).balance).toBeCloseTo(0.1, 6);
    expect((await balanceOf(expert.key)).balance).toBeCloseTo(0.9, 6);
  });

  test("must fit the key's monthly limit, too", async () => {
    const { caller, parent } = await dearChild(0.3, { credit: 10, key: { monthly_limit: 0.5 } });
    expect((await run(parent, {}, caller)).body.status).toBe("done");
    expect((await run(parent, {}, caller)).body).toMatchObject({ error: { type: "insufficient_funds" }, cost: 0 });
    expect((await balanceOf(caller.key)).balance).toBeCloseTo(9.7, 6);
  });
});
