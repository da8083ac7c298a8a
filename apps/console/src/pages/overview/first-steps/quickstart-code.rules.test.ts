import { expect, test } from "vitest";
import { quickstartCode } from "./quickstart-code.rules.ts";

const codeOf = (model: Parameters<typeof quickstartCode>[2]) =>
  quickstartCode("https://gantry.example.com", "gk_abc", model).map(({ label, text }) => [label, text]);

test("code contains the key and the address, in three languages", () => {
  const snippets = codeOf({ endpointId: "gantry/text", kind: "text" });
  expect(snippets.map(([label]) => label)).toEqual(["curl", "Python", "TypeScript"]);
  for (const [, text] of snippets) {
    expect(text).toContain("gk_abc");
    expect(text).toContain("https://gantry.example.com/v1/chat/completions");
    expect(text).toContain("gantry/text");
  }
});

test("a service without a text model paints a picture", () => {
  const [[, curl] = [], [, python] = []] = codeOf({ endpointId: "gantry/image", kind: "image" });
  expect(curl).toContain("/v1/images/generations");
  expect(python).toContain('["data"][0]["url"]');
});
