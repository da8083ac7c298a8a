import { expect, test } from "vitest";
import { JsonEnd } from "./json-end.ts";

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test.each([
  "{}",
  ' {"a": {"b": [1, {}]}, "c": "d"}',
  '{"}": "]}", "[": "\\"}", "\\\\": "\\\\"}',
  '[{"a": "\\u007d"}]',
  '"{\\"a\\": {}}"',
])("the end is where the text is complete: %s", (text) => {
  const end = new JsonEnd();
  for (let length = 1; length <= text.length; length++) {
    end.read(text.slice(length - 1, length));
    expect(end.isReached).toBe(isJson(text.slice(0, length)));
  }
  end.read(" {");
  expect(end.isReached).toBe(true);
});
