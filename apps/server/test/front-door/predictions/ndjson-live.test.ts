import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
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
  await createModels(gantry, { chat: chatModel(chat.url) });
});

afterAll(async () => {
  await gantry.close();
  await chat.close();
});

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
