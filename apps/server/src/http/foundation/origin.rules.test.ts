import { expect, test } from "vitest";
import { isOwnOrigin } from "./origin.rules.ts";

const publicUrl = "https://gantry.example";

test.each([
  ["a program, which sends none", undefined, "evil.example", undefined, true],
  ["a page of an address", "http://127.0.0.1:8080", "127.0.0.1:8080", undefined, true],
  ["a page of localhost", "http://localhost:8080", "localhost:8080", undefined, true],
  ["a page of an IPv6 address", "http://[::1]:8080", "[::1]:8080", undefined, true],
  ["a page of the usual port", "http://10.0.0.1", "10.0.0.1:80", undefined, true],
  ["another port", "http://127.0.0.1:8081", "127.0.0.1:8080", undefined, false],
  ["another site", "https://evil.example", "127.0.0.1:8080", undefined, false],
  ["a domain that was pointed here", "http://evil.example:8080", "evil.example:8080", undefined, false],
  ["a domain that looks like an address", "http://127.0.0.1.evil.example", "127.0.0.1.evil.example", undefined, false],
  ["no origin that can be named", "null", "127.0.0.1:8080", undefined, false],
  ["a file", "file://", "127.0.0.1:8080", undefined, false],
  ["nonsense", "::", "127.0.0.1:8080", undefined, false],
  ["no host", "http://127.0.0.1", undefined, undefined, false],
  ["the public address", "https://gantry.example", "10.0.0.7:8080", publicUrl, true],
  ["the public address without TLS", "http://gantry.example", "10.0.0.7:8080", publicUrl, false],
  ["a page beside the public address", "https://evil.example", "gantry.example", publicUrl, false],
])("%s", (_what, origin, host, address, expected) => {
  expect(isOwnOrigin(origin, host, address)).toBe(expected);
});
