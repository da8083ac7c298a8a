import { expect, test } from "vitest";
import { isLineError, readLine } from "./line.rules.ts";

const endpoint = "/v1/chat/completions" as const;
const valid = { custom_id: "a", method: "POST", url: endpoint, body: { model: "m" } };
const read = (request: unknown) =>
  readLine({ line: 7, text: typeof request === "string" ? request : JSON.stringify(request) }, endpoint);

test("a valid line has an id and a body, also after a byte order mark", () => {
  expect(read(valid)).toEqual({ customId: "a", body: { model: "m" } });
  expect(isLineError(read(`\uFEFF${JSON.stringify(valid)}\r`))).toBe(false);
});

test.each([
  ["invalid_json_line", "[1]", null],
  ["invalid_json_line", "{", null],
  ["missing_required_parameter", { ...valid, custom_id: undefined }, "custom_id"],
  ["invalid_custom_id", { ...valid, custom_id: 1 }, "custom_id"],
  ["invalid_custom_id", { ...valid, custom_id: "" }, "custom_id"],
  ["invalid_custom_id", { ...valid, custom_id: "x".repeat(513) }, "custom_id"],
  ["invalid_custom_id", { ...valid, custom_id: "a\0" }, "custom_id"],
  ["invalid_custom_id", { ...valid, custom_id: "\ud800" }, "custom_id"],
  ["invalid_method", { ...valid, method: "post" }, "method"],
  ["invalid_url", { ...valid, url: "/v1/responses" }, "url"],
  ["invalid_body", { ...valid, body: [] }, "body"],
])("%s: %j", (code, request, param) => {
  expect(read(request)).toMatchObject({ code, param, line: 7 });
});

test("a url that is not the endpoint is refused with the endpoint, or with how to queue images", () => {
  const messageFor = (url: string) => (read({ ...valid, url }) as { message?: string }).message;
  expect(messageFor("/v1/embeddings")).toContain("must be /v1/chat/completions");
  expect(messageFor("/v1/images/generations")).toContain("predict/async/");
});

test("a body that is nested too deeply or a line that is too long is refused", () => {
  const deep = JSON.parse(`${"[".repeat(80)}${"]".repeat(80)}`);
  expect(read({ ...valid, body: { deep } })).toMatchObject({ code: "invalid_body" });
  expect(readLine({ line: 1, text: undefined }, endpoint)).toMatchObject({ code: "line_too_long" });
});
