import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { createClient, type StreamEvent, textSoFar } from "../../../../../packages/sdk/src/index.ts";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { waitFor } from "../../support/wait-for.ts";

/** Queued predictions that restart while a follower reads, on the same node or another. */
let gantry: GantryNode;
let second: GantryNode;
let chat: ChatServer;

beforeAll(async () => {
  chat = await startChatServer();
  gantry = await startGantry();
  second = await startGantry({ beside: gantry });
  await createModels(gantry, { chat: chatModel(chat.url, { pricing: { per_million_output_tokens: 1000 } }) });
});

afterEach(() => chat.cut());

afterAll(async () => {
  await second.close();
  await gantry.close();
  await chat.close();
});

const route = "/api/v1/admin/chat/predict";

async function begin(): Promise<string> {
  const accepted = await gantry.call("POST", `${route}/async/`, { form: { prompt: "x" } });
  expect(accepted.status, accepted.text).toBe(200);
  await waitFor("the upstream call", () => chat.open === 1);
  return accepted.body.prediction_id;
}

/** The worker is considered dead, and the prediction has not restarted yet. */
async function loseWorker(id: string): Promise<void> {
  await gantry.database.sql`update live_predictions set holder = 'node_that_died', claim = claim + 1 where id = ${id}`;
}

async function begunAgain(calls: number): Promise<void> {
  await waitFor("the call of the second worker alone", () => chat.requests.length > calls && chat.open === 1);
}

async function* jsonLines(id: string, node: GantryNode): AsyncGenerator<StreamEvent> {
  const headers = { accept: "application/x-ndjson" };
  const response = await node.fetch("GET", `${route}/async/result/?request_id=${id}`, { headers });
  let unread = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (unread + chunk).split("\n");
    unread = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

/** The events as they arrive, and the reader's text, which restarts on a reset event. */
function gather(events: AsyncIterable<StreamEvent>) {
  const lines: StreamEvent[] = [];
  const end = (async () => {
    for await (const event of events) lines.push(event);
  })();
  const restarts = () => lines.filter(({ restarted }) => restarted).length;
  return { lines, end, restarts, text: () => lines.reduce(textSoFar, "") };
}

const read = (id: string, node = gantry) => gather(jsonLines(id, node));
const follow = (id: string) => gather(createClient({ url: second.url, key: second.adminKey }).follow("admin/chat", id));

const haveAll = (readers: ReturnType<typeof read>[], text: string) =>
  waitFor(`all to have ${text}`, () => readers.every((reader) => reader.text() === text));

test("a restart with another text resets the transcript for followers; later readers see only the new text", async () => {
  const id = await begin();
  const along = [read(id), read(id, second), follow(id)];
  chat.say("A0 A1 A2 ");
  await haveAll(along, "A0 A1 A2 ");
  const calls = chat.requests.length;
  await loseWorker(id);
  const between = read(id, second);
  await begunAgain(calls);
  expect(between.text()).toBe("");
  chat.say("B0");
  await haveAll(along, "B0");
  const late = [between, read(id), read(id, second)];
  chat.say(" B1");
  await haveAll([...along, ...late], "B0 B1");
  chat.end({ prompt_tokens: 1, completion_tokens: 2 });
  await Promise.all([...along, ...late].map(({ end }) => end));
  const replay = read(id);
  await replay.end;
  for (const reader of along) {
    expect(reader.restarts()).toBe(1);
    expect(reader.lines).toContainEqual({ output_data: { output: ["B0"] }, status: 200, restarted: true });
  }
  for (const reader of [...late, replay]) expect(reader.restarts()).toBe(0);
  for (const reader of [...along, ...late, replay]) {
    expect(reader.text()).toBe("B0 B1");
    expect(reader.lines.at(-1)).toMatchObject({ output_data: {}, status: 200, stream_details: { output_tokens: 2 } });
  }
  const result = await gantry.call("GET", `${route}/async/result/?request_id=${id}`);
  expect(result.body.inference_responses[0].response).toEqual({ output: "B0 B1" });
  const usage = await gantry.call("GET", "/api/v2/usage");
  expect(usage.body.results).toMatchObject([{ request_id: id, output_tokens: 2, price: 0.002 }]);
});

test("a restart with the same text continues silently", async () => {
  const id = await begin();
  const along = [read(id), read(id, second), follow(id)];
  chat.say("one two ");
  await haveAll(along, "one two ");
  const calls = chat.requests.length;
  await loseWorker(id);
  await begunAgain(calls);
  chat.say("one ");
  const late = read(id);
  await haveAll([late], "one ");
  chat.say("two three");
  await haveAll([...along, late], "one two three");
  chat.end({ prompt_tokens: 1, completion_tokens: 3 });
  for (const reader of [...along, late]) {
    await reader.end;
    expect([reader.text(), reader.restarts()]).toEqual(["one two three", 0]);
  }
});

test("a restart with less or no text withdraws the earlier text", async () => {
  for (const words of ["one", ""]) {
    const id = await begin();
    const along = [read(id), read(id, second), follow(id)];
    chat.say("one two");
    await haveAll(along, "one two");
    const calls = chat.requests.length;
    await loseWorker(id);
    await begunAgain(calls);
    if (words !== "") chat.say(words);
    chat.end({ prompt_tokens: 1, completion_tokens: 1 });
    for (const reader of along) {
      await reader.end;
      expect([reader.text(), reader.restarts()]).toEqual([words, 1]);
    }
  }
});

test("a restarted and cancelled prediction keeps the new text", async () => {
  const id = await begin();
  const along = [read(id), read(id, second)];
  chat.say("A0 A1 A2 ");
  await haveAll(along, "A0 A1 A2 ");
  const calls = chat.requests.length;
  await loseWorker(id);
  await begunAgain(calls);
  chat.say("B0 B1");
  // Shorter than the batching interval: the text arrives with the end.
  await sleep(50);
  await gantry.call("POST", `${route}/cancel/?prediction_id=${id}`);
  const replay = read(id, second);
  for (const reader of [...along, replay]) {
    await reader.end;
    expect(reader.text()).toBe("B0 B1");
    expect(reader.lines.at(-1)).toMatchObject({ status: 499, detail: [{ type: "generation_cancelled" }] });
  }
  expect([...along, replay].map(({ restarts }) => restarts())).toEqual([1, 1, 0]);
});
