import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openaiClient } from "../../support/agent-chats.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { agentModel, createModels } from "../../support/models.ts";
import { inTurn, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

let gantry: GantryNode;
let other: GantryNode;
let llm: ScriptedLlm;
let client: OpenAI;
const model = "admin/llm";

beforeAll(async () => {
  llm = await startScriptedLlm();
  gantry = await startGantry();
  other = await startGantry({ beside: gantry });
  await createModels(gantry, { llm: agentModel(llm.url) });
  client = openaiClient(gantry, gantry.adminKey);
}, 60_000);

afterAll(async () => {
  await other.close();
  await gantry.close();
  await llm.close();
});

/** The error of the official client. */
async function refused(work: Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(OpenAI.APIError);
  return error as InstanceType<typeof OpenAI.APIError>;
}

const said = () => llm.requests.at(-1)?.messages.map(({ role, content }) => `${role}: ${content}`);

describe("a stored response", () => {
  test("has no credentials of tool servers", async () => {
    llm.script = () => ({ text: "Hello." });
    const server = { type: "mcp" as const, server_label: "docs", server_url: "https://example.com/mcp?key=SECRET" };
    const tools = [{ ...server, authorization: "SECRET", headers: { "x-key": "SECRET" } }];
    const made = await client.responses.create({ model, input: "Hi.", tools });
    expect(made.tools).toEqual([{ ...server, server_url: "https://example.com/mcp" }]);
    const stored = await gantry.database.sql`select request::text from responses where id = ${made.id}`;
    expect(JSON.stringify([made, await client.responses.retrieve(made.id), stored])).not.toContain("SECRET");
  });

  test("is continued on another node, with everything before it", async () => {
    llm.script = inTurn({ text: "Hello Ada." }, { text: "Ada." }, { text: "You are Ada." });
    const first = await client.responses.create({ model, input: "I am Ada.", instructions: "Be brief." });
    const second = await openaiClient(other, gantry.adminKey).responses.create({
      model,
      input: "Who am I?",
      previous_response_id: first.id,
    });
    expect(second).toMatchObject({ output_text: "Ada.", previous_response_id: first.id });
    await client.responses.create({ model, input: "Again?", previous_response_id: second.id, instructions: "Shout." });
    expect(said()).toEqual([
      "system: Shout.",
      "user: I am Ada.",
      "assistant: Hello Ada.",
      "user: Who am I?",
      "assistant: Ada.",
      "user: Again?",
    ]);
  });

  test("is read as it was answered, streamed or not", async () => {
    llm.script = () => ({ text: "Kept.", reasoning: "Hm." });
    const made = await client.responses.create({ model, input: "Keep this.", metadata: { a: "b" } });
    const { output_text: _, ...read } = await client.responses.retrieve(made.id);
    expect(made).toMatchObject(read);
    const streamed = await client.responses.stream({ model, input: "Keep this too." }).finalResponse();
    expect(streamed.output).toMatchObject((await client.responses.retrieve(streamed.id)).output);
    expect(streamed.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
  });

  test("lists its input items in pages", async () => {
    const input = ["a", "b", "c"].map((content) => ({ role: "user" as const, content }));
    const { id } = await client.responses.create({ model, input });
    const items = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 2, order: "asc" })) items.push(item);
    expect(items.map((item) => "content" in item && item.content)).toEqual(["a", "b", "c"]);
  });

  test("is deleted with its content", async () => {
    llm.script = () => ({ text: "A secret." });
    const { id } = await client.responses.create({ model, input: "Tell me." });
    await client.responses.delete(id);
    expect(await refused(client.responses.retrieve(id))).toMatchObject({ status: 404, type: "invalid_request_error" });
    expect(await refused(client.responses.delete(id))).toMatchObject({ status: 404 });
    const continued = client.responses.create({ model, input: "More?", previous_response_id: id });
    expect(await refused(continued)).toMatchObject({ status: 404, param: "previous_response_id" });
    const rows = await gantry.database
      .sql`select output::text from ended_predictions where id = ${id.replace("resp", "pred")}`;
    expect(rows).toEqual([{ output: "{}" }]);
  });

  test("is not written with store: false", async () => {
    const { id, store } = (await client.responses.create({ model, input: "Hi.", store: false })) as unknown as {
      id: string;
      store: boolean;
    };
    expect(store).toBe(false);
    expect(await gantry.database.sql`select 1 from responses where id = ${id}`).toHaveLength(0);
    expect(await refused(client.responses.retrieve(id))).toMatchObject({ status: 404 });
  });

  test("resolves references to its items, and names one that does not exist", async () => {
    llm.script = inTurn({ calls: [{ name: "look", args: {} }] }, { text: "Seen." });
    const tool = { type: "function" as const, name: "look", parameters: {}, strict: false };
    const first = await client.responses.create({ model, input: "Look.", tools: [tool] });
    const [call] = first.output;
    if (call?.type !== "function_call") throw new Error("not a call");
    const reference = { type: "item_reference" as const, id: call.id ?? "" };
    const result = { type: "function_call_output" as const, call_id: call.call_id, output: "A cat." };
    const input = [{ role: "user" as const, content: "Look." }, reference, result];
    expect((await client.responses.create({ model, input, tools: [tool] })).output_text).toBe("Seen.");
    const unknown = { type: "item_reference" as const, id: "msg_unknown" };
    const error = await refused(client.responses.create({ model, input: [unknown] }));
    expect(error).toMatchObject({ status: 404, param: "input[0].id" });
    // Each reference would take the size of the item again.
    const twice = await refused(client.responses.create({ model, input: [reference, reference] }));
    expect(twice).toMatchObject({ status: 400, param: "input[1].id" });
  });

  test("counts towards the storage quota with what it repeats of the request", async () => {
    const plan = { requests_per_minute: 100, parallel: 10, storage_bytes: 50_000 };
    expect((await gantry.call("PUT", "/api/v2/admin/plans/small", { json: plan })).status).toBeLessThan(300);
    const saver = openaiClient(gantry, await gantry.newUser("saver", { plan: "small" }));
    llm.script = () => ({ text: "Stored." });
    const create = (instructions: string) => saver.responses.create({ model, input: "Hi.", instructions });
    const first = await create("x".repeat(40_000));
    expect(await refused(create("x".repeat(20_000)))).toMatchObject({ status: 413 });
    // A request that only opens a connection is stored, too.
    const probe = saver.responses.create({ model, input: [], instructions: "x".repeat(20_000) });
    expect(await refused(probe)).toMatchObject({ status: 413 });
    await saver.responses.delete(first.id);
    await create("x".repeat(20_000));
  });

  test("repeats the answer of its Idempotency-Key, and is stored once", async () => {
    llm.script = () => ({ text: "Once." });
    const before = llm.requests.length;
    const headers = { "Idempotency-Key": "responses-once" };
    const first = await client.responses.create({ model, input: "Once?" }, { headers });
    const again = await client.responses.create({ model, input: "Once?" }, { headers });
    expect(again).toMatchObject({ id: first.id, output: first.output });
    expect(llm.requests.length).toBe(before + 1);
    expect(await gantry.database.sql`select 1 from responses where id = ${first.id}`).toHaveLength(1);
  });

  test("keeps any text of a model, and refuses ids of another form", async () => {
    llm.script = () => ({ text: "a\u0000b \ud800 c" });
    const { id, output_text: text } = await client.responses.create({ model, input: "Something odd." });
    expect(text).toContain("a\u0000b");
    expect((await client.responses.retrieve(id)).output_text).toBe(text);
    await client.responses.create({ model, input: "More.", previous_response_id: id });
    expect(said()?.[1]).toBe(`assistant: ${text}`);
    for (const odd of ["resp_", "x".repeat(5000)]) {
      const error = await refused(client.responses.create({ model, input: "Hi.", previous_response_id: odd }));
      expect(error).toMatchObject({ status: 404, param: "previous_response_id" });
    }
    expect((await gantry.call("GET", "/v1/responses/resp_odd")).status).toBe(404);
  });

  test("a turn that was deleted breaks the conversation", async () => {
    const first = await client.responses.create({ model, input: "One." });
    const second = await client.responses.create({ model, input: "Two.", previous_response_id: first.id });
    await client.responses.delete(first.id);
    const error = await refused(client.responses.create({ model, input: "Three.", previous_response_id: second.id }));
    expect(error).toMatchObject({ status: 404, param: "previous_response_id" });
    expect(error.message).toContain(first.id);
  });

  test("a conversation longer than a request is a 400", async () => {
    const { id } = await client.responses.create({ model, input: "Long." });
    await gantry.database.sql`update responses set bytes = ${40 * 1024 * 1024} where id = ${id}`;
    const error = await refused(client.responses.create({ model, input: "More.", previous_response_id: id }));
    expect(error).toMatchObject({ status: 400, param: "previous_response_id" });
  });
});

describe("the response of another", () => {
  test("user does not exist", async () => {
    const { id, output } = await client.responses.create({ model, input: "Mine." });
    const stranger = openaiClient(gantry, await gantry.newUser("stranger"));
    const attempts = [
      () => stranger.responses.retrieve(id),
      () => stranger.responses.delete(id),
      () => stranger.responses.cancel(id),
      () => stranger.responses.create({ model, input: "Hi.", previous_response_id: id }),
      () => stranger.responses.create({ model, input: [{ type: "item_reference", id: output[0]?.id ?? "" }] }),
    ];
    for (const attempt of attempts) expect(await refused(attempt())).toMatchObject({ status: 404 });
    expect((await client.responses.retrieve(id)).id).toBe(id);
  });

  test("key does not exist for a confined key", async () => {
    const made = await gantry.call("POST", "/api/v2/keys", { json: { name: "app", models: [model] } });
    const confined = openaiClient(gantry, made.body.key);
    const { id } = await client.responses.create({ model, input: "Owner's." });
    expect(await refused(confined.responses.retrieve(id))).toMatchObject({ status: 404 });
    const continued = confined.responses.create({ model, input: "Hi.", previous_response_id: id });
    expect(await refused(continued)).toMatchObject({ status: 404 });
    const own = await confined.responses.create({ model, input: "App's." });
    expect((await confined.responses.retrieve(own.id)).id).toBe(own.id);
    expect((await client.responses.retrieve(own.id)).id).toBe(own.id);
  });
});

test("each answer is one usage record of the door, charged once", async () => {
  const key = await gantry.newUser("payer");
  llm.script = () => ({ text: "Paid.", usage: { in: 10, out: 5 } });
  const payer = openaiClient(gantry, key);
  await payer.responses.create({ model, input: "One." });
  await payer.responses.stream({ model, input: "Two." }).finalResponse();
  const rows = await gantry.database.sql`
    select route, door, status, price_micros as price from usage
    where user_id = (select id from users where username like 'payer%') order by route`;
  expect(rows).toMatchObject([
    { route: "stream", door: "openai-responses", status: 200, price: 60 },
    { route: "sync", door: "openai-responses", status: 200, price: 60 },
  ]);
});
