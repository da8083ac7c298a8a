import { describe, expect, test } from "vitest";
import { keptChat } from "./kept-chat.rules.ts";
import {
  decodableJson,
  keptFields,
  keptOf,
  keptText,
  mainText,
  mostKeptBytes,
  previewOf,
  publicUrl,
} from "./kept-input.rules.ts";
import { shorten } from "./shorten.rules.ts";

describe("shorten", () => {
  test("leaves what fits as it is", () => {
    expect(shorten({ a: "ä".repeat(10) }, 100)).toEqual({ json: `{"a":"${"ä".repeat(10)}"}`, truncated: false });
  });

  test.each([
    ["one long text", { prompt: "ä".repeat(1_000_000) }],
    [
      "many texts",
      { messages: Array.from({ length: 5_000 }, (_, n) => ({ role: "user", content: `${n} ${"x".repeat(2_000)}` })) },
    ],
    ["many numbers", { vector: Array.from({ length: 500_000 }, () => 0.123) }],
    ["many fields", Object.fromEntries(Array.from({ length: 100_000 }, (_, n) => [`field${n}`, "x".repeat(10)]))],
    ["long names", { ["x".repeat(1_000_000)]: 1 }],
    ["escapes", { text: "\n\u0001".repeat(300_000) }],
  ])("bounds %s by its bytes", (_what, value) => {
    const { json, truncated } = shorten(value, mostKeptBytes);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(mostKeptBytes);
    expect(json.length).toBeGreaterThan(100);
    expect(() => JSON.parse(json)).not.toThrow();
  });

  test("keeps the end of a conversation", () => {
    const messages = Array.from({ length: 5_000 }, (_, n) => ({ role: "user", content: `${n} ${"x".repeat(2_000)}` }));
    const kept = JSON.parse(shorten({ messages }, mostKeptBytes).json);
    expect(kept.messages.at(-1).content).toMatch(/^4999 x+…$/);
  });
});

test("the kept text has the request in its first line, and the input in its second", () => {
  const [request = "", input = ""] = keptText(keptOf("req-1", () => ({ prompt: "a\nb" }))).split("\n");
  expect(JSON.parse(request)).toEqual({ id: "req-1", keeps: true, preview: "a b" });
  expect(JSON.parse(input)).toEqual({ prompt: "a\nb" });
  expect(keptText(keptOf("req-1", undefined))).toBe('{"id":"req-1"}\n');
});

test("an input that cannot be kept does not throw", () => {
  let deep: Record<string, unknown> = {};
  for (let level = 0; level < 200; level++) deep = { deep };
  expect(keptOf("req-1", () => deep).input).toBeUndefined();
  expect(keptOf(undefined, () => ({ big: 1n })).input).toBeUndefined();
  const failing = () => {
    throw new Error("no");
  };
  expect(keptOf("req-1", failing)).toEqual({ request: { id: "req-1" }, input: undefined });
});

test.each([
  [{ other: "x", prompt: "the prompt" }, "the prompt"],
  [
    {
      messages: [
        { role: "user", content: "first" },
        { role: "assistant", content: "no" },
      ],
    },
    "first",
  ],
  [{ messages: [{ role: "user", content: [{ type: "image" }, { type: "text", text: "last" }] }] }, "last"],
  [{ input: ["one", "two"] }, "one"],
  [{ count: 3, caption: "some text" }, "some text"],
  [{ count: 3 }, undefined],
])("the main text of %j", (input, text) => expect(mainText(input)).toBe(text));

test("a preview is one line of at most 200 characters that PostgreSQL can decode", () => {
  expect(previewOf(` a\n\tb\0c${"\ud800"}x `)).toBe("a b c\ufffdx");
  expect(previewOf(`x${"😀".repeat(500)}`)).toBe(`x${"😀".repeat(99)}`);
  expect(previewOf(" \n")).toBeUndefined();
});

test("escapes that PostgreSQL cannot decode are replaced", () => {
  const json = JSON.stringify({ a: "\0", b: "\ud800x", c: "\\u0000", d: "\\\0", e: "\u001f" });
  expect(JSON.parse(decodableJson(json))).toEqual({
    a: "\ufffd",
    b: "\ufffdx",
    c: "\\u0000",
    d: "\\\ufffd",
    e: "\u001f",
  });
});

test("links with credentials are not kept", () => {
  expect(publicUrl("https://example.com/a.png")).toBe("https://example.com/a.png");
  for (const link of [
    "https://example.com/a.png?sig=1",
    "https://me:pw@example.com/a",
    "s3://a/b",
    "data:text/plain,x",
  ]) {
    expect(publicUrl(link)).toBeUndefined();
  }
});

const open = async () => {
  throw new Error("not read");
};

test("files become references or descriptions, also in lists", () => {
  const file = { kind: "file", contentType: "image/png", size: 3, filename: "a.png", open };
  expect(keptFields({ one: { ...file, sha256: "ff" }, many: [{ ...file, stored: "s3://b/k" }, file], n: 1 })).toEqual({
    one: { $inline: { name: "a.png", content_type: "image/png", size: 3, sha256: "ff" } },
    many: [{ $stored: "s3://b/k" }, { $inline: { name: "a.png", content_type: "image/png", size: 3, sha256: null } }],
    n: 1,
  });
});

const data = Buffer.alloc(300, 7).toString("base64");
const described = { $inline: { name: null, content_type: "image/png", size: 300, sha256: expect.any(String) } };

test("native requests keep what was sent, without images", () => {
  const source = { type: "base64", media_type: "image/png", data };
  const body = {
    model: "m",
    stream: true,
    messages: [{ role: "user", content: [{ type: "image", source }] }],
    top_k: 3,
  };
  expect(keptChat({ messages: [], native: { protocol: "anthropic", body, stream: true } })).toEqual({
    messages: [{ role: "user", content: [{ type: "image", source: { ...source, data: described } }] }],
    top_k: 3,
  });
  const url = `data:image/png;base64,${data}`;
  const openai = { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] };
  expect(keptChat({ messages: [], native: { protocol: "openai-chat", body: openai, stream: false } })).toEqual({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: described } }] }],
  });
});

test("native requests lose credentials of tool servers, and links that may contain some", () => {
  const link = "https://example.com/a.png";
  const server = { type: "url", name: "docs", url: link };
  const tool = { type: "mcp", server_label: "docs" };
  const schema = { type: "object", properties: { authorization: { type: "string" } } };
  const call = { type: "tool_use", id: "a", name: "open", input: { url: `${link}?page=2` } };
  const body = {
    mcp_servers: [
      { ...server, authorization_token: "SECRET" },
      { ...server, url: `${link}?key=SECRET` },
    ],
    tools: [
      { ...tool, server_url: `${link}?key=SECRET`, authorization: "SECRET", headers: { "x-key": "SECRET" } },
      { name: "open", input_schema: schema },
    ],
    messages: [
      { role: "assistant", content: [call] },
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: link } },
          { type: "image", source: { type: "url", url: `${link}?sig=SECRET` } },
          { type: "image_url", image_url: { url: "https://me:SECRET@example.com", detail: "low" } },
          { type: "input_image", image_url: `${link}?sig=SECRET` },
        ],
      },
    ],
  };
  const kept = keptChat({ messages: [], native: { protocol: "anthropic", body, stream: false } });
  expect(JSON.parse(JSON.stringify(kept))).toEqual({
    mcp_servers: [server, { type: "url", name: "docs" }],
    tools: [tool, { name: "open", input_schema: schema }],
    messages: [
      { role: "assistant", content: [call] },
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: link } },
          { type: "image", source: { type: "url" } },
          { type: "image_url", image_url: { detail: "low" } },
          { type: "input_image" },
        ],
      },
    ],
  });
  expect(keptChat({ messages: [], extra: { mcp_servers: [{ authorization_token: "SECRET" }] } })).toEqual({
    mcp_servers: [{}],
    messages: [],
  });
});

test("translated conversations keep messages and settings", () => {
  const messages = [
    { role: "user", content: [{ type: "image", contentType: "image/png", base64: data }] },
    { role: "assistant", text: "Hm.", toolCalls: [{ id: "a", name: "look", arguments: {} }], opaque: { secret: 1 } },
    { role: "tool", callId: "a", name: "look", content: "nothing" },
  ] as const;
  expect(keptChat({ messages, maxTokens: 5, temperature: 0 })).toEqual({
    messages: [
      { role: "user", content: [{ type: "image", image: described }] },
      { role: "assistant", content: "Hm.", tool_calls: [{ id: "a", name: "look", arguments: {} }] },
      { role: "tool", tool_call_id: "a", name: "look", content: "nothing" },
    ],
    max_tokens: 5,
    temperature: 0,
  });
});
