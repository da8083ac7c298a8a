import OpenAI from "openai";
import { beforeAll, describe, expect, test } from "vitest";
import { askAgent, openaiClient, streamAgent } from "../../support/agent-chats.ts";
import { useRunsPlatform } from "../../support/runs-platform.ts";
import { inTurn } from "../../support/scripted-llm.ts";
import { waitFor } from "../../support/wait-for.ts";

const platform = useRunsPlatform();
let client: OpenAI;
let count = 0;

beforeAll(() => {
  client = openaiClient(platform.gantry, platform.gantry.adminKey);
});

/** Publishes an agent of the admin, or of a user. Returns its name as a model. */
async function publish(fields: object = {}, owner = { name: "admin", key: platform.gantry.adminKey }): Promise<string> {
  const name = `Answerer ${++count}`;
  await platform.makeAgent({ name, goal: "Answer {{input}}.", ...fields }, owner.key);
  return `agents/${owner.name}/answerer-${count}`;
}

/** The error of the official client. */
async function refused(work: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
}

const promptOf = (n: number) => JSON.stringify(platform.llm.requests[n]?.messages);

describe("the conversation is the input", () => {
  test("messages, the last user message, and fields of the schema in metadata", async () => {
    const properties = { city: { type: "string" }, days: { type: "integer" } };
    const agent = await publish({ goal: "{{input}} in {{city}}, {{days}} days", input_schema: { properties } });
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "user", content: "Hi." },
      { role: "assistant", content: "Hello." },
      { role: "user", content: "Weather?" },
    ];
    const metadata = { city: "Rome", days: "3", client: "tests" };
    const { runId, text } = await askAgent(client, agent, "", { messages, metadata });
    expect(text).toBe("done");
    expect((await platform.read(runId)).input).toEqual({ messages, input: "Weather?", city: "Rome", days: 3 });
    expect(promptOf(0)).toContain("Weather? in Rome, 3 days");
  });

  test("a closed schema gets only its own fields", async () => {
    const input_schema = { properties: { city: { type: "string" } }, additionalProperties: false };
    const agent = await publish({ input_schema });
    const { runId } = await askAgent(client, agent, "Weather?", { metadata: { city: "Rome" } });
    expect((await platform.read(runId)).input).toEqual({ city: "Rome" });
  });

  test.each([
    ["a missing field", undefined, "city"],
    ["a field of another type", { city: "Rome", days: "three" }, "metadata.days"],
  ])("%s is a 400 that names it", async (_, metadata, named) => {
    const properties = { city: { type: "string" }, days: { type: "integer" } };
    const agent = await publish({ input_schema: { properties, required: ["city"] } });
    const error = await refused(askAgent(client, agent, "Weather?", metadata ? { metadata } : {}));
    expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(`${error.param} ${error.message}`).toContain(named);
  });

  test("a conversation that is too long is a 400 that names the messages", async () => {
    const agent = await publish();
    const error = await refused(askAgent(client, agent, "x".repeat(4 * 1024 * 1024)));
    expect(error).toMatchObject({ status: 400, param: "messages" });
    expect(error.message).toContain("4 MB");
    // This agent gets only the last message.
    const properties = { input: { type: "string" } };
    const short = await publish({ input_schema: { properties, additionalProperties: false } });
    const other = await refused(askAgent(client, short, "x".repeat(4 * 1024 * 1024)));
    expect(other).toMatchObject({ status: 400, param: "messages" });
  });

  test("a long conversation is part of the run, and shortened in lists", async () => {
    const agent = await publish({ goal: "Answer." });
    const { runId } = await askAgent(client, agent, "x".repeat(2 * 1024 * 1024));
    expect((await platform.read(runId)).input.input).toHaveLength(2 * 1024 * 1024);
    const [listed] = (await platform.gantry.call("GET", "/v1/runs?limit=1")).body.runs;
    expect(listed).toMatchObject({ id: runId, input: { input: "x".repeat(10_000) } });
  });

  test("an image that cannot be read is a 400 that names it, and counts as a request", async () => {
    const plan = { requests_per_minute: 5, parallel: 5 };
    await platform.gantry.call("PUT", "/api/v2/admin/plans/counted-agents", { json: plan });
    const caller = openaiClient(platform.gantry, (await platform.newUser({ plan: "counted-agents" })).key);
    const agent = await publish({ visibility: "public" });
    const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:x" } }] }];
    const error = await refused(askAgent(caller, agent, "", { messages: messages as never }));
    expect(error.status).toBe(400);
    expect(error.param).toContain("messages[0].content[0]");
    expect(error.headers?.get("x-ratelimit-remaining")).toBe("4");
  });

  test("images reach the model as images, and not as text", async () => {
    const agent = await publish();
    const png =
      "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR4nGNgYGD4TyIa1TCqYfhqAAAQ2P8BNUYSVgAAAABJRU5ErkJggg==";
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
    ];
    const { runId } = await askAgent(client, agent, "", { messages: [{ role: "user", content }] });
    expect((await platform.read(runId)).input).toMatchObject({ input: "What is this?" });
    const goal = platform.llm.requests[0]?.messages.at(-1)?.content as unknown as {
      type: string;
      text?: string;
      image_url?: { url: string };
    }[];
    expect(goal[0]?.text).toContain("[image 1]");
    expect(goal[0]?.text).not.toContain("base64");
    expect(goal[1]?.image_url?.url).toMatch(/^data:image\/png;base64,/);
  });
});

describe("the answer", () => {
  test("is the output, with the usage, the cost and the id of the run", async () => {
    const agent = await publish({ tools: ["run_javascript"] });
    platform.llm.script = inTurn(
      { calls: [{ name: "run_javascript", args: { code: "1 + 1" } }], usage: { in: 100, out: 10 } },
      { text: "It is 2.", usage: { in: 200, out: 20 } },
    );
    const answer = await askAgent(client, agent, "1 + 1?");
    expect(answer).toMatchObject({ text: "It is 2.", usage: { prompt_tokens: 300, completion_tokens: 30 } });
    const run = await platform.read(answer.runId);
    expect(run).toMatchObject({ status: "done", cost: Number(answer.cost) });
    expect(run.cost).toBeGreaterThan(0);
  });

  test("of an agent with a schema is its JSON", async () => {
    const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const agent = await publish({ output_schema });
    platform.llm.script = () => ({ text: '{"n": 2}' });
    expect((await askAgent(client, agent, "Go.")).text).toBe('{"n":2}');
  });

  test("ignores the tools and the limits of the request", async () => {
    const agent = await publish();
    const tools = [{ type: "function" as const, function: { name: "own", parameters: { type: "object" } } }];
    expect((await askAgent(client, agent, "Go.", { tools, max_tokens: 1 })).text).toBe("done");
    expect(platform.llm.requests[0]).not.toHaveProperty("tools");
  });

  test("costs the price of another user's agent, and usage rows name the door", async () => {
    const creator = await platform.newUser({ credit: 0 });
    const caller = await platform.newUser({ credit: 1 });
    const agent = await publish({ visibility: "public", pricing: { per_run: 0.25 } }, creator);
    const answer = await askAgent(openaiClient(platform.gantry, caller.key), agent, "Go.");
    expect(Number(answer.cost)).toBeGreaterThan(0.25);
    const rows = await platform.gantry.database.sql`
      select route, door, model_name, price_micros from usage u join users o on o.id = u.user_id
      where o.username = ${caller.name} order by price_micros desc`;
    expect(rows).toMatchObject([
      { route: "agent", door: "openai-chat", model_name: agent, price_micros: 250_000 },
      { route: "agent", door: null, model_name: "admin/llm" },
    ]);
    const sum = rows.reduce((total, { price_micros: price }) => total + price, 0);
    expect(Number(answer.cost)).toBe(sum / 1e6);
  });
});

describe("agents that cannot be used", () => {
  test.each(["agents/admin/unknown", "agents/stranger/unknown", "agents/../x", "agents/admin/%00"])(
    "%s is an unknown model",
    async (model) => {
      expect(await refused(askAgent(client, model, "Go."))).toMatchObject({ status: 404, code: "model_not_found" });
    },
  );

  test("a private agent of another user is an unknown model, as one that does not exist", async () => {
    const caller = openaiClient(platform.gantry, (await platform.newUser()).key);
    const agent = await publish();
    const error = await refused(askAgent(caller, agent, "Go."));
    const unknown = await refused(askAgent(caller, "agents/admin/unknown", "Go."));
    expect(error).toMatchObject({ status: 404, code: "model_not_found" });
    expect(error.message.replace(agent, "agents/admin/unknown")).toBe(unknown.message);
  });

  test("an agent without a published revision is an unknown model", async () => {
    const json = { name: "Never published", goal: "x", tools: [], model: "admin/llm" };
    expect((await platform.gantry.call("POST", "/v1/agents", { json })).status).toBe(201);
    const error = await refused(askAgent(client, "agents/admin/never-published", "Go."));
    expect(error).toMatchObject({ status: 404, code: "model_not_found" });
    expect(error.message).toContain("no published revision");
  });

  test("a price that the caller cannot cover is a 402", async () => {
    const agent = await publish({ visibility: "public", pricing: { per_run: 0.25 } }, await platform.newUser());
    const caller = await platform.newUser({ credit: 0.1 });
    const error = await refused(askAgent(openaiClient(platform.gantry, caller.key), agent, "Go."));
    expect(error).toMatchObject({ status: 402, code: "insufficient_quota" });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    expect(error.headers?.has("x-gantry-run-id")).toBe(false);
  });

  test("runs beyond the rate limit are a 429", async () => {
    const plan = { requests_per_minute: 1, parallel: 5 };
    await platform.gantry.call("PUT", "/api/v2/admin/plans/slow-agents", { json: plan });
    const caller = openaiClient(platform.gantry, (await platform.newUser({ plan: "slow-agents" })).key);
    const agent = await publish({ visibility: "public" });
    await askAgent(caller, agent, "Go.");
    // Refused before the messages are looked at.
    const unreadable = [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:x" } }] }];
    const error = await refused(askAgent(caller, agent, "", { messages: unreadable as never }));
    expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded" });
    expect(error.headers?.get("retry-after")).toMatch(/^\d+$/);
  });
});

describe("runs without an answer", () => {
  test.each([
    ["a failing model", { status: 400 }, { status: 502 }],
    ["a model that refuses", { text: "", finish: "content_filter" }, { status: 502 }],
  ])("%s is an error that names the run and is not retried", async (_, upstream, expected) => {
    const agent = await publish();
    platform.llm.script = () => upstream;
    const error = await refused(askAgent(client, agent, "Go."));
    expect(error).toMatchObject(expected);
    const runId = error.headers?.get("x-gantry-run-id") ?? "";
    expect((await platform.read(runId)).status).toBe("error");
    expect(error.headers?.get("x-should-retry")).toBe("false");
  });

  test("a tool that fails three times is a 502 with the reason", async () => {
    const agent = await publish({ tools: ["run_javascript"] });
    platform.llm.script = () => ({ calls: [{ name: "run_javascript", args: { code: "throw new Error('bad')" } }] });
    const error = await refused(askAgent(client, agent, "Go."));
    expect(error.status).toBe(502);
    expect(error.message).toContain("run_javascript failed three times");
  });

  test("funds that end during the run are a 402", async () => {
    const caller = await platform.newUser({ credit: 0.000_2 });
    const agent = await publish({ visibility: "public", tools: ["run_javascript"] });
    platform.llm.script = () => ({
      calls: [{ name: "run_javascript", args: { code: String(platform.llm.requests.length) } }],
      usage: { in: 1_000, out: 1_000 },
    });
    const error = await refused(askAgent(openaiClient(platform.gantry, caller.key), agent, "Go."));
    expect(error).toMatchObject({ status: 402, code: "insufficient_quota" });
  });

  test("a run that is cancelled elsewhere is a 499", async () => {
    const agent = await publish();
    platform.llm.script = () => ({ text: "Well", hangs: true });
    const { seen, end } = await streamAgent(client, agent, "Go.");
    await waitFor("the text", () => seen.text !== "");
    await platform.gantry.call("POST", `/v1/runs/${seen.runId}/cancel`);
    expect((await end).error).toMatchObject({ code: "generation_cancelled" });
  });

  test("an error after the first text is an event", async () => {
    const agent = await publish({ tools: ["run_javascript"] });
    const code = "throw new Error('bad')";
    platform.llm.script = () => ({ text: "Trying.", calls: [{ name: "run_javascript", args: { code } }] });
    const { end } = await streamAgent(client, agent, "Go.");
    const seen = await end;
    expect(seen.text).toBe("Trying.\n\nTrying.\n\nTrying.");
    expect(seen.error).toMatchObject({ message: expect.stringContaining("failed three times") });
  });
});

describe("a confirmation", () => {
  const tools = [{ type: "tool", id: "run_javascript", confirm: "always" }];
  const asking = () => inTurn({ calls: [{ name: "run_javascript", args: { code: "2" } }] }, { text: "Confirmed." });

  test("is a 409 that names the run, which waits and can be answered", async () => {
    const agent = await publish({ tools });
    platform.llm.script = asking();
    const error = await refused(askAgent(client, agent, "Go."));
    expect(error).toMatchObject({ status: 409, code: "confirmation_required" });
    expect(error.headers?.get("x-should-retry")).toBe("false");
    const runId = error.headers?.get("x-gantry-run-id") ?? "";
    const [, path = ""] = /POST (\S+),/.exec(error.message) ?? [];
    expect(path).toContain(runId);
    expect((await platform.gantry.call("POST", path, { json: { approve: true } })).status).toBe(200);
    expect(await platform.ended(runId)).toMatchObject({ status: "done", output: { text: "Confirmed." } });
  });

  test("after the first text is an event, and the run waits", async () => {
    const agent = await publish({ tools });
    platform.llm.script = inTurn({ text: "May I?", calls: [{ name: "run_javascript", args: { code: "2" } }] });
    const { end } = await streamAgent(client, agent, "Go.");
    const seen = await end;
    expect(seen).toMatchObject({ text: "May I?", error: { code: "confirmation_required" } });
    expect((await platform.read(seen.runId)).phase).toBe("awaiting_confirmation");
  });

  test("with an Idempotency-Key, a repeat gets the answer", async () => {
    const agent = await publish({ tools });
    platform.llm.script = asking();
    const headers = { "idempotency-key": `confirmed-${count}` };
    const error = await refused(askAgent(client, agent, "Go.", {}, headers));
    const [, path = ""] = /POST (\S+),/.exec(error.message) ?? [];
    await platform.gantry.call("POST", path, { json: { approve: true } });
    const answer = await askAgent(client, agent, "Go.", {}, headers);
    expect(answer).toMatchObject({ text: "Confirmed.", runId: error.headers?.get("x-gantry-run-id") });
  });
});

describe("a client that disconnects", () => {
  test.each([false, true])("cancels the run and the call of the model (streamed: %s)", async (isStreamed) => {
    const agent = await publish();
    platform.llm.script = () => ({ text: "Well", hangs: true });
    const leave = new AbortController();
    const { signal } = leave;
    const asked = isStreamed
      ? streamAgent(client, agent, "Go.", { signal }).then(({ end }) => end)
      : client.chat.completions.create({ model: agent, messages: [{ role: "user", content: "Go." }] }, { signal });
    const settled = asked.catch(() => {});
    await waitFor("the call", () => platform.llm.open === 1);
    leave.abort();
    const leftAt = performance.now();
    await waitFor("the end of the call", () => platform.llm.open === 0);
    expect(performance.now() - leftAt).toBeLessThan(5_000);
    await settled;
    const newest = async () => (await platform.gantry.call("GET", "/v1/runs?limit=1")).body.runs[0];
    await waitFor("the end of the run", async () => (await newest()).status === "error");
    expect(await newest()).toMatchObject({ error: { type: "cancelled" } });
  });

  test("with an Idempotency-Key leaves the run, and a repeat gets the whole answer", async () => {
    const agent = await publish({ tools: ["run_javascript"] });
    const slow = { name: "run_javascript", args: { code: "1" } };
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    platform.llm.script = async (_, n) => {
      if (n === 1) return { text: "First.", calls: [slow] };
      await released;
      return { text: "Second." };
    };
    const headers = { "idempotency-key": `left-${count}` };
    const leave = new AbortController();
    const { seen, end } = await streamAgent(client, agent, "Go.", { headers, signal: leave.signal });
    await waitFor("the first text", () => seen.text === "First.");
    leave.abort();
    await end;
    const again = await streamAgent(client, agent, "Go.", { headers });
    await waitFor("the first text again", () => again.seen.text === "First.");
    release();
    expect(await again.end).toMatchObject({ text: "First.\n\nSecond.", runId: seen.runId });
    expect((await askAgent(client, agent, "Go.", {}, headers)).text).toBe("Second.");
    const ended = await streamAgent(client, agent, "Go.", { headers });
    expect((await ended.end).text).toBe("First.\n\nSecond.");
    expect(await refused(askAgent(client, agent, "Other.", {}, headers))).toMatchObject({ status: 400 });
    expect(platform.llm.requests).toHaveLength(2);
  });
});
