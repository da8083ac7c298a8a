import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type GantryNode, startGantry } from "../../support/gantry.ts";
import { chatModel, createModels } from "../../support/models.ts";
import { inTurn, type LlmAnswer, type ScriptedLlm, startScriptedLlm } from "../../support/scripted-llm.ts";

let gantry: GantryNode;
let llm: ScriptedLlm;
let client: Anthropic;

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } } as const;
const sentImage = { type: "image_url", image_url: { url: `data:image/png;base64,${pixel}` } };
const weather = {
  name: "get_weather",
  description: "Reads the weather.",
  input_schema: { type: "object" as const, properties: { city: { type: "string" } }, required: ["city"] },
};

beforeAll(async () => {
  llm = await startScriptedLlm();
  gantry = await startGantry();
  await createModels(gantry, { chat: chatModel(llm.url) });
  client = new Anthropic({ baseURL: gantry.url, apiKey: gantry.adminKey, maxRetries: 0 });
});

afterAll(async () => {
  await gantry.close();
  await llm.close();
});

/** Sends a request to the scripted model. Fields that the client's types do not know are allowed. */
async function ask(fields: object, ...answers: LlmAnswer[]): Promise<Anthropic.Message> {
  llm.script = inTurn(...(answers.length > 0 ? answers : [{ text: "ok" }]));
  const base = { model: "admin/chat", max_tokens: 100, messages: [{ role: "user", content: "Hello" }] };
  return client.messages.create({ ...base, ...fields } as Anthropic.MessageCreateParamsNonStreaming);
}

const sent = () => llm.requests.at(-1) as unknown as Record<string, unknown>;
const refusal = (fields: object) =>
  ask(fields).then(
    () => expect.unreachable("not refused"),
    (error: unknown) => error,
  );

describe("an answer", () => {
  test("of text", async () => {
    const message = await ask({}, { text: "Hello there", usage: { in: 30, out: 4, cached: 10, written: 5 } });
    expect(message).toMatchObject({
      id: expect.stringMatching(/^msg_\w+$/),
      type: "message",
      role: "assistant",
      model: "admin/chat",
      content: [{ type: "text", text: "Hello there" }],
      stop_reason: "end_turn",
      stop_sequence: null,
      usage: {
        input_tokens: 15,
        cache_read_input_tokens: 10,
        cache_creation_input_tokens: 5,
        output_tokens: 4,
      },
    });
    expect(message).toHaveProperty("_request_id", expect.stringMatching(/\w/));
  });

  test("that reaches the limit", async () => {
    expect(await ask({}, { text: "Hel", finish: "length" })).toMatchObject({ stop_reason: "max_tokens" });
  });

  test("that the model refuses", async () => {
    const message = await ask({}, { text: "I", finish: "content_filter" });
    expect(message).toMatchObject({ stop_reason: "refusal", stop_details: { type: "refusal" } });
  });

  test("that ends at a stop sequence names it", async () => {
    const fields = { model: "gantry/rules", messages: [{ role: "user", content: "Count to nine" }] };
    const whole = await ask(fields);
    const [first] = whole.content;
    const text = first?.type === "text" ? first.text : "";
    const word = text.split(" ")[2] ?? "";
    expect(word).not.toBe("");
    const cut = await ask({ ...fields, stop_sequences: ["never", word] });
    expect(cut).toMatchObject({ stop_reason: "stop_sequence", stop_sequence: word });
    expect(cut.content).toEqual([{ type: "text", text: text.slice(0, text.indexOf(word)) }]);
  });

  test("with tool calls and thoughts, which go back in the next request", async () => {
    const calls = [
      { name: "get_weather", args: { city: "Rome" } },
      { name: "get_weather", args: "" },
    ];
    const first = await ask({ tools: [weather] }, { reasoning: "Rome it is.", text: "Let me look.", calls });
    expect(first).toMatchObject({
      stop_reason: "tool_use",
      content: [
        { type: "thinking", thinking: "Rome it is.", signature: expect.stringMatching(/./) },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: expect.any(String), name: "get_weather", input: { city: "Rome" } },
        { type: "tool_use", id: expect.any(String), name: "get_weather", input: {} },
      ],
    });
    const [one, two] = first.content.filter((block) => block.type === "tool_use");
    const content = [
      { type: "text", text: "And tomorrow?" },
      { type: "tool_result", tool_use_id: one?.id, content: [{ type: "text", text: "Sunny" }, image] },
      { type: "tool_result", tool_use_id: two?.id, content: "No city", is_error: true },
    ];
    await ask({
      tools: [weather],
      messages: [
        { role: "user", content: "Weather?" },
        { role: "assistant", content: first.content },
        { role: "user", content },
      ],
    });
    const messages = sent().messages as Record<string, unknown>[];
    expect(messages.map(({ role }) => role).slice(0, 4)).toEqual(["user", "assistant", "tool", "tool"]);
    expect(messages[1]).toMatchObject({
      content: "Let me look.",
      tool_calls: [
        { id: one?.id, function: { name: "get_weather", arguments: '{"city":"Rome"}' } },
        { id: two?.id, function: { name: "get_weather", arguments: "{}" } },
      ],
    });
    expect(messages[2]).toMatchObject({ tool_call_id: one?.id, content: expect.stringContaining("Sunny") });
    expect(messages[3]).toMatchObject({ tool_call_id: two?.id, content: expect.stringContaining("No city") });
    expect(JSON.stringify(messages.slice(2))).toContain(pixel);
    expect(JSON.stringify(messages.at(-1))).toContain("And tomorrow?");
    expect(JSON.stringify(messages)).not.toContain("gantry.");
  });
});

describe("a request", () => {
  test("is translated with its options", async () => {
    await ask({
      system: [
        { type: "text", text: "x-anthropic-billing-header: cc_version=1; cch=abc;" },
        { type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } },
        { type: "text", text: "Be kind." },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "Look:", cache_control: { type: "ephemeral" } }, image] },
        { role: "user", content: "What is it?" },
        { role: "assistant", content: [{ type: "text", text: "A pixel" }] },
        { role: "assistant", content: "it is." },
        { role: "system", content: "Answer in French." },
        { role: "user", content: "Sure?" },
      ],
      temperature: 0.5,
      top_p: 0.9,
      top_k: 5,
      stop_sequences: ["END", ""],
      metadata: { user_id: "u-1" },
      service_tier: "auto",
      tools: [
        { ...weather, cache_control: { type: "ephemeral" } },
        { type: "web_search_20250305", name: "web_search" },
      ],
      tool_choice: { type: "any", disable_parallel_tool_use: true },
      unknown_field: { x: 1 },
    });
    const { messages, tools, ...others } = sent();
    expect(messages).toEqual([
      { role: "system", content: "Be brief.\n\nBe kind.\n\nAnswer in French." },
      { role: "user", content: [{ type: "text", text: "Look:" }, sentImage, { type: "text", text: "What is it?" }] },
      { role: "assistant", content: "A pixel\nit is." },
      { role: "user", content: "Sure?" },
    ]);
    expect(tools).toMatchObject([{ function: { name: "get_weather", description: "Reads the weather." } }]);
    expect(others).toMatchObject({ temperature: 0.5, top_p: 0.9, stop: ["END"], tool_choice: "required" });
    expect(others).toMatchObject({ parallel_tool_calls: false });
    for (const name of ["top_k", "metadata", "service_tier", "unknown_field"]) expect(others).not.toHaveProperty(name);
  });

  test.each<[fields: object, choice: unknown]>([
    [{ type: "auto" }, "auto"],
    [{ type: "none" }, "none"],
    [
      { type: "tool", name: "get_weather" },
      { type: "function", function: { name: "get_weather" } },
    ],
  ])("with the tool choice %j", async (tool_choice, choice) => {
    await ask({ tools: [weather], tool_choice });
    expect(sent().tool_choice).toEqual(choice);
  });

  test.each<[fields: object, effort: string | undefined]>([
    [{ thinking: { type: "enabled", budget_tokens: 1024 } }, "low"],
    [{ thinking: { type: "enabled", budget_tokens: 10_000 } }, "medium"],
    [{ thinking: { type: "enabled", budget_tokens: 31_999 } }, "high"],
    [{ thinking: { type: "adaptive" }, output_config: { effort: "max" } }, "xhigh"],
    [{ thinking: { type: "adaptive" } }, undefined],
    [{ output_config: { effort: "low" } }, "low"],
    [{ thinking: { type: "disabled" }, output_config: { effort: "high" } }, "none"],
  ])("with %j asks for the effort %s", async (fields, effort) => {
    await ask(fields);
    expect(sent().reasoning_effort).toBe(effort);
  });

  test.each<[thinking: object, types: string[]]>([
    [{ type: "disabled" }, ["text"]],
    [{ type: "adaptive" }, ["thinking", "text"]],
  ])("with the thinking %j gets the blocks %j", async (thinking, types) => {
    const { content } = await ask({ thinking }, { reasoning: "hm", text: "ok" });
    expect(content.map(({ type }) => type)).toEqual(types);
  });

  test("may leave out the text of thoughts", async () => {
    const { content } = await ask(
      { thinking: { type: "adaptive", display: "omitted" } },
      { reasoning: "hm", text: "ok" },
    );
    expect(content[0]).toEqual({ type: "thinking", thinking: "", signature: expect.stringMatching(/./) });
  });

  const schema = {
    type: "object",
    properties: { n: { type: "integer" } },
    required: ["n"],
    additionalProperties: false,
  };
  test.each([
    { output_config: { format: { type: "json_schema", schema } } },
    { output_format: { type: "json_schema", schema } },
  ])("for structured output: %j", async (fields) => {
    const message = await ask(fields, { text: '{"n":1}' });
    expect(message.content).toEqual([{ type: "text", text: '{"n":1}' }]);
    expect(sent().response_format).toMatchObject({ type: "json_schema", json_schema: { schema } });
  });

  test("with text documents, search results and blocks that only Anthropic knows", async () => {
    await ask({
      messages: [
        {
          role: "user",
          content: [
            { type: "document", title: "Notes", source: { type: "text", media_type: "text/plain", data: "One" } },
            { type: "document", source: { type: "content", content: [{ type: "text", text: "Two" }] } },
            { type: "search_result", title: "T", source: "https://x.test", content: [{ type: "text", text: "Three" }] },
            { type: "hologram", data: "?" },
            { type: "text", text: "Read." },
          ],
        },
        {
          role: "assistant",
          content: [
            { type: "redacted_thinking", data: "x" },
            { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} },
            { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] },
            { type: "text", text: "Read " },
            { type: "text", text: "it." },
          ],
        },
        { role: "assistant", content: [{ type: "redacted_thinking", data: "y" }] },
        { role: "user", content: [{ type: "text", text: "Thanks." }] },
      ],
    });
    expect(sent().messages).toEqual([
      { role: "user", content: "Notes\nOne\nTwo\nT\nhttps://x.test\nThree\nRead." },
      { role: "assistant", content: "Read it." },
      { role: "user", content: "Thanks." },
    ]);
  });

  test("without `anthropic-version`, with any date from the first version on, and with betas", async () => {
    const json = { model: "admin/chat", max_tokens: 5, messages: [{ role: "user", content: "Hi" }] };
    const send = async (headers: Record<string, string>) =>
      (await gantry.call("POST", "/v1/messages?beta=true", { json, headers })).status;
    expect(await send({})).toBe(200);
    expect(await send({ "anthropic-version": "2023-06-01", "anthropic-beta": "a,b" })).toBe(200);
    expect(await send({ "anthropic-version": "2031-01-01" })).toBe(200);
    expect(await send({ "anthropic-version": "2023-01-01" })).toBe(400);
    expect(await send({ "anthropic-version": "latest" })).toBe(400);
  });

  const pdf = { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" } };
  const result = { type: "tool_result", tool_use_id: "toolu_gone", content: "x" };
  const said = (...content: object[]) => [{ role: "user", content }];
  test.each<[fields: object, message: RegExp]>([
    [{ max_tokens: undefined }, /^max_tokens: Field required/],
    [{ max_tokens: 0 }, /^max_tokens: .*at least 1/],
    [{ max_tokens: 1.5 }, /^max_tokens: .*whole number/],
    [{ messages: [] }, /^messages: /],
    [{ messages: undefined }, /^messages: Field required/],
    [{ messages: said({ type: "hologram" }) }, /^messages: /],
    [{ messages: said({ type: "text", text: "x" }, pdf) }, /^messages\[0\]\.content\[1\]: .*base64/],
    [{ messages: said(result) }, /^messages\[0\]\.content\[0\]\.tool_use_id: /],
    [{ messages: said({ type: "image", source: { type: "file", file_id: "f" } }) }, /content\[0\]\.source\.type: /],
    [{ messages: said({ type: "image", source: { ...image.source, data: "AAAA" } }) }, /content\[0\]\.source\.data: /],
    [{ messages: [{ role: "robot", content: "x" }] }, /^messages\[0\]\.role: /],
    [{ temperature: "hot" }, /^temperature: .*number/],
    [{ stop_sequences: "END" }, /^stop_sequences: /],
    [{ tools: [{ name: "x" }] }, /^tools\[0\]\.input_schema: Field required/],
    [{ tools: [weather], tool_choice: { type: "tool", name: "other" } }, /^tool_choice\.name: /],
    [{ tools: [weather], tool_choice: { type: "all" } }, /^tool_choice\.type: /],
    [{ output_config: { format: { type: "xml" } } }, /^output_config\.format\.type: /],
  ])("is refused with the field: %j", async (fields, message) => {
    const before = llm.requests.length;
    const error = await refusal(fields);
    expect(error).toBeInstanceOf(Anthropic.BadRequestError);
    expect(error).toMatchObject({ type: "invalid_request_error", apiMessage: expect.stringMatching(message) });
    expect((error as InstanceType<typeof Anthropic.APIError>).requestID).toMatch(/\w/);
    expect(llm.requests).toHaveLength(before);
  });
});

describe("the tool runner of the official client", () => {
  test("falls back to sending the whole conversation, and ends with the answer", async () => {
    const calls = [{ name: "get_weather", args: { city: "Rome" } }];
    llm.script = inTurn({ text: "Looking", calls }, { text: "Sunny in Rome." });
    const before = llm.requests.length;
    const cities: unknown[] = [];
    const final = await client.beta.messages.toolRunner({
      model: "admin/chat",
      max_tokens: 100,
      messages: [{ role: "user", content: "Weather in Rome?" }],
      tools: [
        {
          ...weather,
          type: "custom",
          parse: (input: unknown) => input,
          run: (input: unknown) => {
            cities.push(input);
            return "Sunny";
          },
        },
      ],
    });
    expect(cities).toEqual([{ city: "Rome" }]);
    expect(final.content).toMatchObject([{ type: "text", text: "Sunny in Rome." }]);
    expect(llm.requests).toHaveLength(before + 2);
    expect((sent().messages as { role: string }[]).map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  });
});
