import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
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
const headers = { accept: "application/x-ndjson" };

async function begin(): Promise<string> {
  const accepted = await gantry.call("POST", `${route}/async/`, { form: { prompt: "x" } });
  expect(accepted.status, accepted.text).toBe(200);
  await waitFor("the upstream call", () => chat.open === 1);
  return accepted.body.prediction_id;
}

async function linesOf(id: string, key = gantry.adminKey) {
  const { text } = await gantry.call("GET", `${route}/async/result/?request_id=${id}`, { headers, key });
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
