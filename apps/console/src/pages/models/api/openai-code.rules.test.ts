import { describe, expect, it } from "vitest";
import type { CalledModel } from "./call-code.rules.ts";
import { openAiCode } from "./openai-code.rules.ts";

const card = (endpoint_id: string): CalledModel => ({
  endpoint_id,
  urls: { predict: `https://gantry.example.com/api/v1/${endpoint_id}/predict` },
  output: { type: "object", properties: {} },
});

describe("a text model", () => {
  const code = openAiCode(
    { ...card("ada/claude"), kind: "text" },
    { prompt: `it's "new"`, max_tokens: 50, stop: "", photo: new File(["x"], "a.png") },
  );

  it("is called with curl", () => {
    expect(code?.curl).toBe(
      `curl -s https://gantry.example.com/v1/chat/completions \\
  -H "Authorization: Bearer $GANTRY_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"ada/claude","messages":[{"role":"user","content":"it'\\''s \\"new\\""}],"max_tokens":50}'`,
    );
  });

  it("is called from TypeScript", () => {
    expect(code?.typescript).toBe(
      `// npm install openai
import OpenAI from "openai";

const client = new OpenAI({ baseURL: "https://gantry.example.com/v1", apiKey: process.env.GANTRY_KEY });
const answer = await client.chat.completions.create({
  model: "ada/claude",
  messages: [{"role":"user","content":"it's \\"new\\""}],
  max_tokens: 50,
});
console.log(answer.choices[0].message.content);`,
    );
  });

  it("is called from Python", () => {
    expect(code?.python).toBe(
      `# pip install openai
import os
from openai import OpenAI

client = OpenAI(base_url="https://gantry.example.com/v1", api_key=os.environ["GANTRY_KEY"])
answer = client.chat.completions.create(
    model="ada/claude",
    messages=[{"role":"user","content":"it's \\"new\\""}],
    max_tokens=50,
)
print(answer.choices[0].message.content)`,
    );
  });

  it("has a question even if the form is empty", () => {
    expect(openAiCode({ ...card("ada/claude"), kind: "text" }, {})?.curl).toContain('"content":"Say hello."');
  });
});

it("an image model is called for a link to the image", () => {
  const code = openAiCode({ ...card("gantry/image"), kind: "image" }, { prompt: "a ship", size: "1280x720" });
  expect(code?.curl).toContain("https://gantry.example.com/v1/images/generations");
  expect(code?.curl).toContain('{"model":"gantry/image","prompt":"a ship","size":"1280x720","response_format":"url"}');
  expect(code?.python).toContain("answer = client.images.generate(");
});

it("kinds that the protocol does not have get no code", () => {
  expect(openAiCode({ ...card("ada/film"), kind: "video" }, { prompt: "a ship" })).toBeUndefined();
});
