import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { type LlmAnswer, type LlmRequest, toolResults } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
const { makeAgent, run, start, read } = platform;
const call: typeof platform.gantry.call = (...args) => platform.gantry.call(...args);

let silent: Server;
let silentUrl: string;
beforeAll(async () => {
  await platform.makeModel("dear", { pricing: { per_million_input_tokens: 1000 } });
  await platform.makeModel("fair", { pricing: { per_million_input_tokens: 100 } });
  await platform.makeModel("free", { pricing: {} });
  silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
});
afterAll(() => {
  silent.closeAllConnections();
  silent.close();
});

const never = () => new Promise<LlmAnswer>(() => {});
const callDear = (prompt: string) => ({ name: "run_model", args: { model: "admin/dear", input: { prompt } } });
const callFair = (prompt: string) => ({ name: "run_model", args: { model: "admin/fair", input: { prompt } } });
const image = { name: "run_model", args: { model: "gantry/image", input: { prompt: "a hill", size: "1280x720" } } };
const listen = () => ({ name: "http_request", args: { method: "GET", url: silentUrl } });

/** The parent's calls in its first step, and the answer of the dear or fair model, as a tool or as the child's model. */
function play(
  calls: readonly { name: string; args: unknown }[],
  dear: (asked: string) => LlmAnswer | Promise<LlmAnswer>,
) {
  platform.llm.script = (request: LlmRequest) => {
    if (request.model === "dear" || request.model === "fair") return dear(JSON.stringify(request.messages));
    if (request.model === "free") return never();
    return toolResults(request).length === 0 ? { calls } : { text: "ok" };
  };
}

/** The sum of all charges in the ledger. */
async function booked({ key }: { key: string }) {
  const { results } = (await call("GET", "/api/v2/usage", { key })).body;
  const sum = (name: string) =>
    results.reduce((total: number, row: Record<string, number>) => total + (row[name] ?? 0), 0);
  const { balance, reserved } = (await call("GET", "/api/v2/me", { key })).body;
  return {
    cost: Number(sum("price").toFixed(6)),
    charged: Number((10 - balance).toFixed(6)),
    reserved,
    usage: {
      input_tokens: sum("input_tokens"),
      output_tokens: sum("output_tokens"),
      cached_tokens: sum("cached_tokens"),
      cache_write_tokens: sum("cache_write_tokens"),
    },
  };
}

const words = "word ".repeat(100);

describe("the usage and cost of a run", () => {
  test("include the tokens and the price of a model called as a tool", async () => {
    const user = await platform.newUser();
    const agent = await makeAgent({ tools: ["run_model"] }, user.key);
    play([callDear("hi")], () => ({ text: "k", usage: { in: 30, out: 7, cached: 5 } }));
    const { body } = await run(agent, {}, user);
    expect(body).toMatchObject({
      status: "done",
      usage: { input_tokens: 230, output_tokens: 27, cached_tokens: 5 },
      cost: 0.0304,
    });
    expect(await booked(user)).toEqual({ cost: body.cost, charged: body.cost, reserved: 0, usage: body.usage });
  });

  test.each(["timeout", "cancelled"])("include the use of such a model until the run was stopped: %s", async (how) => {
    const user = await platform.newUser();
    const agent = await makeAgent({ tools: ["run_model"] }, user.key);
    play([callDear(words)], never);
    const id = await start(agent, how === "timeout" ? { timeout_seconds: 3 } : {}, user);
    await waitFor("the model to be called", () => platform.llm.requests.some(({ model }) => model === "dear"));
    const path = `/v1/runs/${id}`;
    const stopped = how === "timeout" ? call("GET", `${path}?wait=20`, user) : call("POST", `${path}/cancel`, user);
    const { body } = await stopped;
    expect(body).toMatchObject({ status: "error", error: { type: how } });
    expect(body.cost).toBeGreaterThan(0.1);
    expect(await booked(user)).toEqual({ cost: body.cost, charged: body.cost, reserved: 0, usage: body.usage });
    expect(await read(id, user.key)).toEqual(body);
  });

  test("include parallel calls that were running when another call ended the run", async () => {
    const user = await platform.newUser();
    const agent = await makeAgent({ tools: ["run_model"] }, user.key);
    // The image waits for the holds of the two others; after the quick one's charge it no longer fits.
    play([callFair("quick"), callFair("still"), image], (asked) =>
      asked.includes("quick") ? { text: "k", usage: { in: 25, out: 0 } } : never(),
    );
    const { body } = await run(agent, { max_cost: 0.032 }, user);
    expect(body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    expect(body.cost).toBeGreaterThan(0.0027);
    expect(await booked(user)).toEqual({ cost: body.cost, charged: body.cost, reserved: 0, usage: body.usage });
    expect(await read(body.id, user.key)).toEqual(body);
  });
});

describe("a run that ends while children work", () => {
  const childOf = (key: string) => makeAgent({ goal: `Child. ${words}`, model: "admin/dear" }, key);
  const settled = async (seen: { id: string; cost: number }, user: { key: string }) => {
    await waitFor("the calls to be closed", () => platform.llm.open === 0);
    expect(await booked(user)).toMatchObject({ cost: seen.cost, charged: seen.cost, reserved: 0 });
    const { runs } = (await call("GET", `/v1/runs?parent_run_id=${seen.id}`, user)).body;
    expect(runs).toHaveLength(1);
    expect(runs[0].status).toBe("error");
    expect(Date.parse(runs[0].completed_at)).toBeLessThanOrEqual(
      Date.parse((await read(seen.id, user.key)).completed_at),
    );
    expect(await read(seen.id, user.key)).toEqual(seen);
  };

  test("by its time limit ends soon, with their cost included", async () => {
    const user = await platform.newUser();
    const tools = ["http_request", { type: "agent", agent_id: await childOf(user.key), name: "work" }];
    const parent = await makeAgent({ tools }, user.key);
    play([{ name: "work", args: {} }, listen()], never);
    const { body } = await run(parent, { timeout_seconds: 3 }, user);
    expect(body).toMatchObject({ status: "error", error: { type: "timeout" } });
    expect(body.cost).toBeGreaterThan(0.1);
    expect(Date.parse(body.completed_at) - Date.parse(body.created_at)).toBeLessThan(20_000);
    await settled(body, user);
  });

  test("by a limit ends soon, with their cost included", async () => {
    const user = await platform.newUser();
    const child = await makeAgent({ goal: "Child.", model: "admin/free" }, user.key);
    const tools = ["run_model", { type: "agent", agent_id: child, name: "work" }];
    const parent = await makeAgent({ tools }, user.key);
    // The image waits for the hold of the fair model and no longer fits after its charge; meanwhile the child works.
    play([{ name: "work", args: {} }, callFair("word ".repeat(9)), image], async () => {
      await waitFor("the child to be under way", () => platform.llm.open === 2);
      return { text: "k", usage: { in: 60, out: 0 } };
    });
    const { body } = await run(parent, { max_cost: 0.035 }, user);
    expect(body).toMatchObject({ status: "error", error: { type: "limit_exceeded" } });
    await settled(body, user);
  });

  test("by a cancel ends soon, with their cost included", async () => {
    const user = await platform.newUser();
    const tools = [{ type: "agent", agent_id: await childOf(user.key), name: "work" }];
    const parent = await makeAgent({ tools }, user.key);
    play([{ name: "work", args: {} }], never);
    const id = await start(parent, {}, user);
    await waitFor("the child to be under way", () => platform.llm.open === 1);
    const { body } = await call("POST", `/v1/runs/${id}/cancel`, user);
    expect(body).toMatchObject({ status: "error", error: { type: "cancelled" } });
    expect(body.cost).toBeGreaterThan(0.1);
    await settled(body, user);
  });
});
