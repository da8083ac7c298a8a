import { beforeEach, expect, test } from "vitest";
import { answering } from "../../../src/engines/models/test-upstreams/text-upstream.ts";
import { useDoorsPlatform } from "../../support/doors-platform.ts";

/** Requests as the translated upstream gets them, and requests that are refused. */
const platform = useDoorsPlatform();
const usage = { input: 9, output: 5 };
const question = [{ role: "user", content: "Say hello." }];
const pixel =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tool = (name: string) => ({
  type: "function",
  function: { name, description: `Does ${name}`, parameters: { type: "object", properties: {} } },
});

beforeEach(() => platform.translated.play(answering({ text: ["Hello."], usage })));

async function ask(body: object) {
  return platform.gantry.call("POST", "/v1/chat/completions", {
    json: { model: "admin/translated", messages: question, ...body },
  });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
async function sentFor(body: object): Promise<any> {
  const { status, text } = await ask(body);
  expect(status, text).toBe(200);
  return platform.translated.requests.at(-1)?.body;
}

test("every form of a message reaches a backend of another protocol", async () => {
  const sent = await sentFor({
    messages: [
      { role: "system", content: "Be kind." },
      { role: "developer", content: [{ type: "text", text: "Be brief." }] },
      {
        role: "user",
        name: "ann",
        content: [
          { type: "text", text: "Look:" },
          { type: "image_url", image_url: { url: pixel, detail: "low" } },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
          { id: "c2", type: "function", function: { name: "g", arguments: "" } },
        ],
      },
      {
        role: "tool",
        tool_call_id: "c1",
        content: [
          { type: "text", text: "one" },
          { type: "text", text: "two" },
        ],
      },
      { role: "tool", tool_call_id: "c2", content: null },
      {
        role: "assistant",
        content: [
          { type: "text", text: "Well" },
          { type: "refusal", refusal: "no" },
        ],
        reasoning_content: "Hm.",
      },
      { role: "assistant", content: null, function_call: { name: "old", arguments: "{}" } },
      { role: "function", name: "old", content: "result" },
      { role: "user", content: "Go on." },
    ],
    tools: [tool("f"), tool("g")],
  });
  expect(JSON.stringify(sent.system)).toContain("Be kind.");
  expect(JSON.stringify(sent.system)).toContain("Be brief.");
  const blocks = sent.messages.flatMap(({ role, content }: { role: string; content: object[] }) =>
    content.map((block) => ({ role, ...block })),
  );
  expect(blocks).toMatchObject([
    { role: "user", type: "text", text: "Look:" },
    { role: "user", type: "image", source: { type: "base64", media_type: "image/png" } },
    { role: "assistant", type: "tool_use", id: "c1", name: "f", input: { a: 1 } },
    { role: "assistant", type: "tool_use", id: "c2", name: "g", input: {} },
    { role: "user", type: "tool_result", tool_use_id: "c1" },
    { role: "user", type: "tool_result", tool_use_id: "c2" },
    { role: "assistant", type: "text", text: "Well\nno" },
    { role: "assistant", type: "tool_use", name: "old" },
    { role: "user", type: "tool_result" },
    { role: "user", type: "text", text: "Go on." },
  ]);
  expect(JSON.stringify(blocks[4])).toContain("one\\ntwo");
});

test("an image in the result of a tool reaches the model", async () => {
  const sent = await sentFor({
    messages: [
      ...question,
      { role: "assistant", tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }] },
      { role: "tool", tool_call_id: "c1", content: [{ type: "image_url", image_url: { url: pixel } }] },
    ],
    tools: [tool("f")],
  });
  expect(JSON.stringify(sent.messages.at(-1))).toContain('"media_type":"image/png"');
});

test("settings of the answer are translated, and unknown fields are ignored", async () => {
  const sent = await sentFor({
    max_completion_tokens: 77,
    stop: ["END", "STOP"],
    tools: [tool("f"), tool("g"), { type: "custom", custom: { name: "x" } }, { type: "web_search" }],
    tool_choice: {
      type: "allowed_tools",
      allowed_tools: { mode: "required", tools: [{ type: "function", function: { name: "g" } }] },
    },
    parallel_tool_calls: false,
    logprobs: true,
    n: 1,
    metadata: { a: "b" },
    user: "ann",
    store: true,
    made_up: 1,
    service_tier: "auto",
  });
  expect(sent).toMatchObject({ max_tokens: 77, stop_sequences: ["END", "STOP"] });
  expect(sent.tools.map(({ name }: { name: string }) => name)).toEqual(["g"]);
  expect(sent.tool_choice).toMatchObject({ type: "any", disable_parallel_tool_use: true });
  expect(JSON.stringify(sent)).not.toMatch(/made_up|service_tier|logprobs/);
});

test("the deprecated functions work", async () => {
  const sent = await sentFor({
    functions: [{ name: "f", parameters: { type: "object" } }],
    function_call: { name: "f" },
  });
  expect(sent).toMatchObject({ tools: [{ name: "f" }], tool_choice: { type: "tool", name: "f" } });
});

test.each([null, "auto", "none", "required", { type: "function", function: { name: "f" } }])(
  "tool_choice %j is accepted",
  async (tool_choice) => {
    expect((await ask({ tools: [tool("f")], tool_choice })).status).toBe(200);
  },
);

test("a JSON schema binds the answer, and null fields are absent", async () => {
  const nothing = Object.fromEntries(
    ["stop", "temperature", "top_p", "seed", "max_tokens", "tools", "tool_choice", "n", "stream", "stream_options"].map(
      (name) => [name, null],
    ),
  );
  const sent = await sentFor({
    ...nothing,
    response_format: {
      type: "json_schema",
      json_schema: { name: "x", schema: { type: "object", properties: { colour: { type: "string" } } } },
    },
  });
  expect(JSON.stringify(sent)).toContain("colour");
});

test("the official client parses a bound answer of a built-in model", async () => {
  const completion = await platform.openai().chat.completions.parse({
    model: "gantry/rules",
    messages: [{ role: "user", content: 'The colour is "red".' }],
    response_format: {
      type: "json_schema",
      json_schema: {
        name: "colours",
        schema: { type: "object", properties: { colour: { type: "string" } }, required: ["colour"] },
      },
    },
  });
  expect(JSON.parse(completion.choices[0]?.message.content ?? "")).toHaveProperty("colour");
});

const call = { id: "c", type: "function", function: { name: "f", arguments: "{}" } };
const user = (content: unknown) => ({ messages: [{ role: "user", content }] });
const refused: [param: string, body: object][] = [
  ["messages", { messages: undefined }],
  ["messages", { messages: [] }],
  ["messages", { messages: "hello" }],
  ["messages[0]", { messages: ["hello"] }],
  ["messages[0].role", { messages: [{ content: "x" }] }],
  ["messages[0].role", { messages: [{ role: "robot", content: "x" }] }],
  ["messages[0].content", user(null)],
  ["messages[0].content", user(5)],
  ["messages[0].content[0]", user(["x"])],
  [
    "messages[0].content[1].type",
    user([
      { type: "text", text: "a" },
      { type: "input_audio", input_audio: {} },
    ]),
  ],
  ["messages[0].content[0].type", user([{ type: "file", file: { file_id: "x" } }])],
  ["messages[0].content[0].text", user([{ type: "text" }])],
  ["messages[0].content[0].image_url.url", user([{ type: "image_url", image_url: {} }])],
  [
    "messages[0].content[0].image_url.url",
    user([{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }]),
  ],
  ["messages[0].content[0].image_url.url", user([{ type: "image_url", image_url: { url: "file:///etc/passwd" } }])],
  ["messages[1].tool_call_id", { messages: [...question, { role: "tool", tool_call_id: "c", content: "x" }] }],
  ["messages[0].tool_calls[0].id", { messages: [{ role: "assistant", tool_calls: [{ ...call, id: undefined }] }] }],
  ["messages[0].tool_calls[0].function", { messages: [{ role: "assistant", tool_calls: [{ id: "c" }] }] }],
  ["n", { n: 2 }],
  ["n", { n: "1" }],
  ["stream", { stream: "yes" }],
  ["stream_options", { stream: true, stream_options: true }],
  ["max_tokens", { max_tokens: 0 }],
  ["max_tokens", { max_tokens: 1.5 }],
  ["max_completion_tokens", { max_completion_tokens: "many" }],
  ["temperature", { temperature: 3 }],
  ["temperature", { temperature: "hot" }],
  ["top_p", { top_p: 2 }],
  ["seed", { seed: 1.5 }],
  ["stop", { stop: 5 }],
  ["stop[1]", { stop: ["a", 5] }],
  ["reasoning_effort", { reasoning_effort: "huge" }],
  ["parallel_tool_calls", { parallel_tool_calls: 1 }],
  ["tools", { tools: {} }],
  ["tools[0]", { tools: ["f"] }],
  ["tools[0].function", { tools: [{ type: "function" }] }],
  ["tools[0].function.name", { tools: [{ type: "function", function: {} }] }],
  ["tools[0].function.parameters", { tools: [{ type: "function", function: { name: "f", parameters: 5 } }] }],
  ["tool_choice", { tool_choice: "sometimes", tools: [tool("f")] }],
  ["tool_choice", { tool_choice: "required" }],
  ["tool_choice.function.name", { tool_choice: { type: "function", function: { name: "g" } }, tools: [tool("f")] }],
  ["response_format.type", { response_format: { type: "yaml" } }],
  ["response_format.json_schema", { response_format: { type: "json_schema" } }],
  ["response_format.json_schema.schema", { response_format: { type: "json_schema", json_schema: { name: "x" } } }],
];

test("a request cannot make the server fetch any number of images", async () => {
  const image = { type: "image_url", image_url: { url: pixel } };
  const { status, body } = await ask(user(Array.from({ length: 501 }, () => image)));
  expect(status).toBe(400);
  expect(body.error).toMatchObject({ param: "messages[0].content[500].image_url.url", code: "sequence_too_long" });
});

test.each(refused)("a faulty %s is a 400 that names it", async (param, body) => {
  const { status, body: answer, headers } = await ask(body);
  expect(status, JSON.stringify(answer)).toBe(400);
  expect(answer.error).toMatchObject({ type: "invalid_request_error", param, message: expect.any(String) });
  expect(answer.error.message).not.toMatch(/undefined|expected|Invalid input/);
  expect(headers.get("x-should-retry")).toBe("false");
  expect(platform.translated.requests).toEqual([]);
});

test("what matters to every backend is checked for relayed requests too", async () => {
  for (const body of [{ n: 2 }, { messages: [] }, { max_tokens: -1 }, { stream: 1 }]) {
    const json = { model: "admin/native", messages: question, ...body };
    const { status, body: answer } = await platform.gantry.call("POST", "/v1/chat/completions", { json });
    expect([status, answer.error.param]).toEqual([400, Object.keys(body)[0]]);
  }
});

test.each([
  '{"model":',
  "[]",
  '"text"',
  "null",
  "{}",
  '{"model":5}',
  `{"model":"gantry/text","messages":${"[".repeat(50_000)}${"]".repeat(50_000)}}`,
])("a hostile body is a 400: %#", async (body) => {
  const headers = { "content-type": "application/json", "x-api-key": platform.gantry.adminKey };
  const answer = await fetch(`${platform.gantry.url}/v1/chat/completions`, { method: "POST", body, headers });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { type: "invalid_request_error" } });
});
