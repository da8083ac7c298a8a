import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { readStream } from "../../support/read-stream.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let chat: ChatServer;

beforeAll(async () => {
  chat = await startChatServer();
  gantry = await startGantry();
  await createModels(gantry, { chat: chatModel(chat.url, { pricing: { per_million_output_tokens: 1000 } }) });
});

afterAll(async () => {
  await gantry.close();
  await chat.close();
});

const route = "/api/v1/admin/chat/predict";
const asLines = { accept: "application/x-ndjson" };

/** The fragments of JSON lines or of a stream, as they arrive. */
function gather(events: AsyncIterable<{ output_data?: { output?: string[] } }>) {
  const fragments: string[] = [];
  const end = (async () => {
    for await (const event of events) fragments.push(...(event.output_data?.output ?? []));
  })();
  return { fragments, end, said: () => fragments.join("") };
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
async function* readLines(response: Response): AsyncGenerator<any> {
  let unread = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const lines = (unread + chunk).split("\n");
    unread = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}

test.each([
  ["a divided pair and a NUL", ["a\ud83e", "\udd84b", " c\u0000d", " end"]],
  ["halves without their other halves", ["a\udd84", "b\ud83e", "c \ud83e", ""]],
  ["the mark of what cannot be stored", ["\uffff0000", "\uffff", "ffff"]],
])("JSON lines show the output live: %s", async (_, words) => {
  const whole = words.join("");
  const form = { prompt: "x" };
  const lines = gather(
    readLines(await gantry.fetch("POST", "/api/v1/admin/chat/predict/async/", { form, headers: asLines })),
  );
  const stream = gather(readStream(await gantry.fetch("POST", "/api/v1/admin/chat/predict/stream/", { form })));
  await waitFor("both upstream calls", () => chat.open === 2);
  for (const word of words) {
    chat.say(word);
    // Longer than the batching interval.
    await sleep(400);
  }
  await waitFor("the stream to have it all", () => stream.said() === whole);
  const lastHalf = /[\ud800-\udbff]$/.test(whole) ? 1 : 0;
  await waitFor("the lines to have it all, live", () => lines.said() === whole.slice(0, whole.length - lastHalf));
  chat.end({ prompt_tokens: 1, completion_tokens: 4 });
  await Promise.all([lines.end, stream.end]);
  expect(lines.said()).toBe(whole);
  if (whole.isWellFormed()) expect(lines.fragments.filter((fragment) => !fragment.isWellFormed())).toEqual([]);
  const list = await gantry.call("GET", "/api/v2/usage?page_size=2");
  const replays = list.body.results.map(({ request_id: id }: { request_id: string }) =>
    gantry.fetch("GET", `/api/v1/admin/chat/predict/async/result?request_id=${id}`, { headers: asLines }),
  );
  for (const response of await Promise.all(replays)) {
    const replay = gather(readLines(response));
    await replay.end;
    expect(replay.said()).toBe(whole);
  }
});

test("a fragment that could not be stored is sent before the next one", async () => {
  const { sql } = gantry.database;
  const accepted = await gantry.call("POST", "/api/v1/admin/chat/predict/async/", { form: { prompt: "x" } });
  const id = accepted.body.prediction_id;
  await waitFor("the upstream call", () => chat.open === 1);
  await sql`alter table prediction_fragments rename to fragments_away`;
  chat.say("one ");
  await waitFor("the failure", () => gantry.logged().includes("A fragment of a stream could not be stored"));
  await sql`alter table fragments_away rename to prediction_fragments`;
  chat.say("two ");
  const path = `/api/v1/admin/chat/predict/async/result?request_id=${id}`;
  const lines = gather(readLines(await gantry.fetch("GET", path, { headers: asLines })));
  await waitFor("both pieces, live", () => lines.said() === "one two ");
  chat.say("three");
  chat.end({ prompt_tokens: 1, completion_tokens: 3 });
  await lines.end;
  expect(lines.said()).toBe("one two three");
});

test("JSON lines from the accept route have rate-limit headers, a request id and the prediction's id", async () => {
  const key = await gantry.newUser("limited", { plan: "free" });
  const response = await gantry.fetch("POST", "/api/v1/admin/chat/predict/async/", {
    form: { prompt: "x" },
    headers: { ...asLines, "x-request-id": "my-request-1" },
    key,
  });
  const lines = readLines(response);
  const { prediction_id: id } = (await lines.next()).value;
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "59",
    "x-ratelimit-reset": expect.stringMatching(/^(60|59)$/),
    "x-request-id": "my-request-1",
    "x-prediction-id": id,
    "content-type": "application/x-ndjson; charset=utf-8",
  });
  await waitFor("the upstream call", () => chat.open === 1);
  chat.end({ prompt_tokens: 1, completion_tokens: 1 });
  await Array.fromAsync(lines);
});

async function begin(): Promise<string> {
  const accepted = await gantry.call("POST", `${route}/async/`, { form: { prompt: "x" } });
  expect(accepted.status, accepted.text).toBe(200);
  await waitFor("the upstream call", () => chat.open === 1);
  return accepted.body.prediction_id;
}

async function linesOf(id: string, key = gantry.adminKey) {
  const { text } = await gantry.call("GET", `${route}/async/result/?request_id=${id}`, { headers: asLines, key });
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

type Line = { output_data?: { output: string[] } };
const said = (lines: Line[]) => lines.flatMap((line) => line.output_data?.output ?? []).join("");

test.each([
  ["cancelled", 499, "generation_cancelled"],
  ["cut off", 502, "downstream_service_error"],
])("the transcript of a %s prediction is readable live and afterwards", async (how, status, type) => {
  const id = await begin();
  const live = linesOf(id);
  // Each longer than the batching interval; the last is still unwritten at the end.
  for (const word of ["one ", "t\u0000wo \ud83e", "\udd84 "]) {
    chat.say(word);
    await sleep(400);
  }
  chat.say("three");
  await sleep(50);
  if (how === "cancelled") await gantry.call("POST", `${route}/cancel/?prediction_id=${id}`);
  else chat.cut();
  const whole = "one t\u0000wo \u{1F984} three";
  for (const lines of [await live, await linesOf(id), await linesOf(id)]) {
    expect(lines[0]).toEqual({ prediction_id: id });
    expect(said(lines)).toBe(whole);
    expect(lines.at(-1)).toMatchObject({ status, detail: [{ type }] });
  }
  expect(await gantry.database.sql`select 1 from prediction_fragments`).toEqual([]);
  const other = await gantry.newUser("other");
  expect(await linesOf(id, other)).toEqual([{ detail: "Prediction not found", status_code: 404 }]);
});

test("a restarted and failed prediction has one transcript", async () => {
  const id = await begin();
  chat.say("one two");
  await waitFor("the piece", async () => (await gantry.database.sql`select 1 from prediction_fragments`).length === 1);
  const calls = chat.requests.length;
  await gantry.database.sql`update live_predictions set holder = 'node_that_died', claim = claim + 1 where id = ${id}`;
  await waitFor("the call of the second worker alone", () => chat.requests.length > calls && chat.open === 1);
  chat.say("one two three");
  await sleep(400);
  await gantry.call("POST", `${route}/cancel/?prediction_id=${id}`);
  expect(said(await linesOf(id))).toBe("one two three");
});

test("a prediction without text has only the first and the last line", async () => {
  const id = await begin();
  await gantry.call("POST", `${route}/cancel/?prediction_id=${id}`);
  expect(await linesOf(id)).toEqual([{ prediction_id: id }, expect.objectContaining({ status: 499 })]);
});

describe("negotiation", () => {
  const rules = "/api/v1/gantry/rules/predict";
  const form = { prompt: "What is 6 times 7?" };
  const json = "application/json; charset=utf-8";
  const lines = "application/x-ndjson; charset=utf-8";
  let id: string;
  beforeAll(async () => {
    id = (await gantry.call("POST", `${rules}/async/`, { form })).body.prediction_id;
    await gantry.call("GET", `${rules}/async/result/?request_id=${id}&wait=20`);
  });

  test.each([
    ["application/x-ndjson", lines],
    ["Application/X-NDJSON", lines],
    ["application/x-ndjson; charset=utf-8", lines],
    ["application/json;q=0.5, application/x-ndjson", lines],
    ["application/x-ndjson, */*", lines],
    ["application/x-ndjson, application/json", lines],
    ["application/x-ndjson;q=0.5", lines],
    ["application/x-ndjson;q=0, application/json", json],
    ["application/x-ndjson;q=0.0", json],
    ["application/x-ndjson;q=0.4, application/json;q=0.8", json],
    ["application/json, application/x-ndjson", json],
    ["application/x-ndjson-not", json],
    ["text/plain;a=application/x-ndjson", json],
    ["*/*", json],
  ])("Accept: %s gets %s", async (accept, type) => {
    const headers = { accept };
    const result = await gantry.call("GET", `${rules}/async/result/?request_id=${id}`, { headers });
    expect([result.status, result.headers.get("content-type")]).toEqual([200, type]);
    const accepted = await gantry.call("POST", `${rules}/async/`, { form, headers });
    expect([accepted.status, accepted.headers.get("content-type")]).toEqual([200, type]);
  });
});
