import { expect, test } from "vitest";
import { hostOf, isSameRedirect, kindOf, redirectProblem, withAnswer } from "./redirect-uri.rules.ts";

test("people see the host of a website or program, and the scheme of an app", () => {
  expect(
    ["https://claude.ai/cb", "http://127.0.0.1:3334/cb", "cursor://x/cb"].map((uri) => [hostOf(uri), kindOf(uri)]),
  ).toEqual([
    ["claude.ai", "web"],
    ["127.0.0.1:3334", "computer"],
    ["cursor:", "computer"],
  ]);
});

test("an answer is appended to the address as it was registered", () => {
  const answer = { code: "c&d", state: undefined, iss: "https://g.example" };
  const query = "code=c%26d&iss=https%3A%2F%2Fg.example";
  expect(withAnswer("https://a.example", answer)).toBe(`https://a.example?${query}`);
  expect(withAnswer("https://a.example/cb?x=%20", answer)).toBe(`https://a.example/cb?x=%20&${query}`);
  expect(withAnswer("com.example.app:/cb", answer)).toBe(`com.example.app:/cb?${query}`);
});

test("only the port of a loopback address may differ", () => {
  expect(isSameRedirect("http://localhost/cb", "http://localhost:8123/cb")).toBe(true);
  expect(isSameRedirect("http://[::1]:1/cb?a=1", "http://[::1]:2/cb?a=1")).toBe(true);
  expect(isSameRedirect("http://localhost/cb", "http://127.0.0.1/cb")).toBe(false);
  expect(isSameRedirect("http://localhost/cb", "http://localhost/cb/")).toBe(false);
  expect(isSameRedirect("http://localhost/cb", "http://localhost/cb#x")).toBe(false);
  expect(isSameRedirect("https://a.example/cb", "https://a.example:8443/cb")).toBe(false);
  expect(isSameRedirect("https://a.example/cb", "HTTPS://a.example/cb")).toBe(false);
});

test("an address with characters that browsers read differently is refused", () => {
  for (const uri of ["https://a.example\\@evil.example/", "https://a.example/\n", "https://ä.example/"]) {
    expect([uri, redirectProblem(uri) !== undefined || hostOf(uri) === "a.example"]).toEqual([uri, true]);
  }
});
