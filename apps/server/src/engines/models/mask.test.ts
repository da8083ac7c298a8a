import { expect, test } from "vitest";
import { createMask } from "./mask.ts";

const secret = `Q"Q/Q +Q~Q'(Q)*`;

test.each([
  ["as it is", secret],
  ["in JSON", JSON.stringify({ secret })],
  ["in JSON with escaped slashes", JSON.stringify({ secret }).replaceAll("/", "\\/")],
  ["in a URL", `https://host/x?key=${encodeURIComponent(secret)}&n=1`],
  ["in a URL with small letters", `?key=${encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase())}`],
  ["in a form", new URLSearchParams({ key: secret }).toString()],
  ["in an address that Gantry wrote", `?${new URLSearchParams({ key: secret }).toString().replaceAll("+", "%20")}`],
  ["within a header", `authorization: Bearer ${secret}, and more`],
])("hides a secret %s", (_, text) => {
  const hidden = createMask([secret])(text);
  expect(hidden).toContain("[hidden]");
  expect(hidden).not.toContain("Q");
});

test("hides all of a secret that begins like another one", () => {
  expect(createMask(["abc", "abcdef"])("abcdef abc")).toBe("[hidden] [hidden]");
});

test("hides a secret that is part of the replacement once", () => {
  expect(createMask(["hidden", "x"])("hidden x")).toBe("[hidden] [hidden]");
});

test.each([[[]], [[undefined]], [[""]]])("changes nothing without a secret: %j", (secrets) => {
  expect(createMask(secrets)("a text")).toBe("a text");
});
