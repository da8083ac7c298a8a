import { expect, test } from "vitest";
import { prefers, prefersOverJson } from "./preferred-type.rules.ts";

const lines = "application/x-ndjson";

test.each([
  [undefined, false],
  ["", false],
  ["*/*", false],
  ["application/*", false],
  ["application/json", false],
  [lines, true],
  [`${lines};q=0.001`, true],
  [`${lines} ; Q = 0`, false],
  [`${lines};q=0, application/json`, false],
  [`${lines};q=much`, false],
  [`${lines};q=0.5, application/json;q=0.5`, true],
  [`application/json;q=0.5, ${lines};q=0.5`, false],
  [`application/json;q=0.4, ${lines};q=0.5`, true],
  [`text/html, ${lines};charset=utf-8;q=0.2, */*;q=0.1`, true],
  ["application/x-ndjson2", false],
])("%j: %s", (accept, expected) => expect(prefersOverJson(accept, lines)).toBe(expected));

test.each([
  [undefined, false],
  ["*/*", false],
  ["text/plain", false],
  ["text/html", true],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true],
  ["text/plain, text/html;q=0.5", false],
])("HTML rather than text, %j: %s", (accept, expected) =>
  expect(prefers(accept, "text/html", "text/plain")).toBe(expected),
);
