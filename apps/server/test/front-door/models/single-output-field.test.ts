import { afterAll, beforeAll, expect, test } from "vitest";
import { type ChatServer, startChatServer } from "../../support/chat-server.ts";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { readStream } from "../../support/read-stream.ts";
import { waitFor } from "../../support/wait-for.ts";

let gantry: GantryNode;
let chat: ChatServer;

const text = { type: "string" };
const streamed = { ...text, isStream: true };
const picture = { ...text, format: "binary", "x-media": "image" };
const outputOf = (properties: object, required?: string[]) => ({ type: "object", properties, required });

beforeAll(async () => {
  chat = await startChatServer();
  gantry = await startGantry();
  const secret = await gantry.call("PUT", "/api/v2/secrets/own", { json: { value: gantry.adminKey } });
  expect(secret.status).toBe(201);
});

afterAll(async () => {
  await gantry.close();
  await chat.close();
});

async function put(name: string, output: object, backend: object): Promise<string> {
  const kind = JSON.stringify(output).includes("isStream") ? "text" : "other";
  const input = { type: "object", required: ["prompt"], properties: { prompt: text } };
  const answer = await gantry.call("PUT", `/api/v1/admin/${name}`, {
    json: { kind, visibility: "public", capacity: 4, input, output, backend },
  });
  expect(answer.status, answer.text).toBe(201);
  return `/api/v1/admin/${name}/predict`;
}

const chatBackend = () => ({ type: "openai-chat", url: chat.url, model: "test" });
const relay = (model: string) => ({ type: "gantry", url: gantry.url, model, secret: "own" });
const rules = { type: "builtin", model: "rules" };
const form = { prompt: "What is 6 times 7?" };

async function spoken<T>(answer: Promise<T>): Promise<T> {
  await waitFor("the upstream call", () => chat.open === 1);
  chat.say("w0 ", "w1 ");
  chat.end({ prompt_tokens: 3, completion_tokens: 2 });
  return answer;
}

const eventsOf = async (path: string) =>
  Array.fromAsync(readStream(await gantry.fetch("POST", `${path}/stream/`, { form })));
/** The joined fragments of each field. */
const gathered = (events: { output_data?: Record<string, string[]> }[]) => {
  const whole: Record<string, string> = {};
  for (const { output_data: output = {} } of events) {
    for (const [field, pieces] of Object.entries(output)) whole[field] = (whole[field] ?? "") + pieces.join("");
  }
  return whole;
};

test.each([[undefined], [["answer"]]])("a chat's text fills the only output, required %j", async (required) => {
  const path = await put(`asked-${required?.length ?? 0}`, outputOf({ answer: text }, required), chatBackend());
  const whole = await spoken(gantry.call("POST", path, { form }));
  expect(whole.status, whole.text).toBe(200);
  expect(whole.body.output_data).toEqual({ answer: "w0 w1 " });

  const answered = { output_data: { answer: "w0 w1 " }, status: 200, files: {} };
  const asStream = [{ prediction_id: expect.any(String) }, answered, { output_data: {}, status: 200 }];
  expect(await spoken(eventsOf(path))).toEqual(asStream);

  const headers = { accept: "application/x-ndjson" };
  const lines = await spoken(gantry.call("POST", `${path}/async/`, { form, headers }));
  expect(
    lines.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual(asStream);
});

test("text goes to the streamed output, not to a file", async () => {
  const path = await put("beside", outputOf({ cover: picture, note: text, story: streamed }), chatBackend());
  expect(gathered(await spoken(eventsOf(path)))).toEqual({ story: "w0 w1 " });
  const silent = await put("covered", outputOf({ cover: picture, note: text }), chatBackend());
  expect((await spoken(gantry.call("POST", silent, { form }))).body.output_data).toEqual({ note: "w0 w1 " });
});

test("built-in models fill outputs of any name", async () => {
  const plain = await put("rules-plain", outputOf({ answer: text }, ["answer"]), rules);
  const answer = await gantry.call("POST", plain, { form });
  expect(answer.body.output_data, answer.text).toEqual({ answer: expect.stringContaining("42") });
  expect(await eventsOf(plain)).toHaveLength(3);
  const live = await put("rules-live", outputOf({ reply: streamed }, ["reply"]), rules);
  const events = await eventsOf(live);
  expect(gathered(events)).toEqual({ reply: expect.stringContaining("42") });
  expect(events.at(-1).stream_details).toMatchObject({ output_tokens: expect.any(Number) });
  const painted = await put("painted", outputOf({ canvas: picture }, ["canvas"]), { type: "builtin", model: "image" });
  const paintedOutput = (await gantry.call("POST", painted, { form })).body;
  expect(paintedOutput).toMatchObject({
    output_data: { canvas: expect.stringMatching(/^s3:/) },
    files: { canvas: { url: expect.any(String) } },
  });
});

test("a remote stream fills a plain output, and a remote plain output fills a stream", async () => {
  await put("far-plain", outputOf({ answer: text }, ["answer"]), rules);
  await put("far-live", outputOf({ reply: streamed }, ["reply"]), rules);
  const whole = await put("near-plain", outputOf({ result: text }, ["result"]), relay("admin/far-live"));
  const answer = await gantry.call("POST", whole, { form });
  expect(answer.body.output_data, answer.text).toEqual({ result: expect.stringContaining("42") });
  const live = await put("near-live", outputOf({ said: streamed }, ["said"]), relay("admin/far-plain"));
  expect(gathered(await eventsOf(live))).toEqual({ said: expect.stringContaining("42") });
});
