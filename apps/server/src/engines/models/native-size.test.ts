import { expect, test } from "vitest";
import { nativeSize } from "./native-size.ts";

const user = (content: unknown) => ({ messages: [{ role: "user", content }] });

test("all texts that the model reads are measured", () => {
  const { text, images, readsMore } = nativeSize({
    model: "ignored-model",
    user: "ignored-user",
    system: [{ type: "text", text: "sys-text" }],
    messages: [
      { role: "user", content: "plain-text" },
      { role: "user", content: [{ type: "text", text: "part-text" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", function: { name: "f", arguments: '{"arg-text":1}' } }],
      },
      { role: "tool", tool_call_id: "c", content: [{ type: "text", text: "result-text" }] },
    ],
    tools: [
      {
        type: "function",
        function: { name: "f", parameters: { properties: { schema_text: { enum: ["enum-text"] } } } },
      },
    ],
    response_format: { json_schema: { schema: { properties: { format_text: {} } } } },
  });
  const read = ["sys", "plain", "part", "arg", "result", "enum"].map((name) => `${name}-text`);
  for (const part of [...read, "schema_text", "format_text"]) expect(text).toContain(part);
  expect(text).not.toContain("ignored");
  expect([images, readsMore]).toEqual([0, false]);
});

test.each([
  ["OpenAI's image", { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
  ["Anthropic's image", { type: "image", source: { type: "base64", data: "AAAA" } }],
  ["an image of the Responses API", { type: "input_image", image_url: "AAAA" }],
])("%s counts as an image, and its bytes not as text", (_what, part) => {
  expect(nativeSize(user([part, part]))).toMatchObject({ images: 2, readsMore: false });
  expect(nativeSize(user([part])).text).not.toContain("AAAA");
});

test("images within the result of a tool count", () => {
  const image = { type: "image", source: {} };
  expect(nativeSize(user([{ type: "tool_result", content: [image, image] }])).images).toBe(2);
});

test.each([
  ["a document", user([{ type: "document", source: {} }])],
  ["a file", user([{ type: "file", file: { file_id: "x" } }])],
  ["audio", user([{ type: "input_audio", input_audio: {} }])],
  ["a web search", { ...user("a"), web_search_options: {} }],
  ["a tool of the upstream", { ...user("a"), tools: [{ type: "web_search_20250305", name: "web_search" }] }],
  ["a tool server", { ...user("a"), mcp_servers: [{ url: "https://x" }] }],
  ["an earlier audio answer", { messages: [{ role: "assistant", audio: { id: "audio_1" } }] }],
])("%s makes the upstream read more than the request contains", (_what, body) => {
  expect(nativeSize(body).readsMore).toBe(true);
});

test("functions of the client do not", () => {
  const tools = [
    { type: "function", function: { name: "f" } },
    { type: "custom", custom: { name: "g" } },
    { name: "h", input_schema: { type: "object" } },
    { type: "custom", name: "i", input_schema: { type: "object" } },
  ];
  expect(nativeSize({ ...user("a"), tools }).readsMore).toBe(false);
});

test.each([
  ["a message", { messages: [{ role: "user", type: "image_url", content: "hidden-text" }] }],
  ["a document", user([{ type: "document", source: {}, title: "hidden-text" }])],
  ["a schema", { ...user("a"), tools: [{ type: "function", function: { type: "image", image_url: "hidden-text" } }] }],
])("the type of an image does not hide the text of %s", (_what, body) => {
  expect(nativeSize(body).text).toContain("hidden-text");
});

test.each([undefined, null, 5, "text", [], {}])("a body whose messages are %j has a size", (messages) => {
  expect(nativeSize({ messages, tools: messages })).toMatchObject({ images: 0 });
});
