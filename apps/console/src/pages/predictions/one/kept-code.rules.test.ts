import { expect, test } from "vitest";
import { curlOfPrediction } from "./kept-code.rules.ts";

const at = "https://host/api/v1/ann/model";
const urls = {
  predict: `${at}/predict`,
  stream: `${at}/predict/stream`,
  async: `${at}/predict/async`,
  result: `${at}/predict/result`,
};
const output = { type: "object" as const, properties: { image: { type: "string" } } };
const card = { endpoint_id: "ann/model", urls, output } as unknown as Parameters<typeof curlOfPrediction>[0];

test("the call is repeated with stored files by address and others by name", () => {
  const input = {
    prompt: "it's a ship",
    mask: { $stored: "s3://gantry/a.png" },
    photo: { $inline: { name: "b.png", content_type: "image/png", size: 3, sha256: null } },
    seed: null,
  };
  const code = curlOfPrediction(card, { input, mode: "sync", door: null });
  expect(code).toContain(`curl -s ${at}/predict`);
  expect(code).toContain("-F 'prompt=it'\\''s a ship'");
  expect(code).toContain("-F 'mask=s3://gantry/a.png'");
  expect(code).toContain(`-F 'photo=@"b.png"'`);
  expect(code).not.toContain("seed");
});

test("chats are repeated as Chat Completions if they have only text", () => {
  const messages = [{ role: "user", content: "Hi" }];
  const code = curlOfPrediction(card, { input: { messages }, mode: "sync", door: "openai-chat" });
  expect(code).toContain("curl -s https://host/v1/chat/completions");
  expect(code).toContain(JSON.stringify({ model: "ann/model", messages }));
  const picture = [{ role: "user", content: [{ type: "image", source: { $stored: "s3://gantry/a.png" } }] }];
  expect(curlOfPrediction(card, { input: { messages: picture }, mode: "sync", door: "mcp" })).toBeUndefined();
});

test("without an input there is nothing to repeat", () => {
  expect(curlOfPrediction(card, { input: null, mode: "sync", door: null })).toBeUndefined();
  expect(curlOfPrediction(card, { input: {}, mode: "agent", door: null })).toBeUndefined();
});
