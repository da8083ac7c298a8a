import { expect, it } from "vitest";
import { fingerprintOf } from "./fingerprint.rules.ts";
import type { FormEntry } from "./form.ts";

type Entry = FormEntry<{ digest: string }>;

const text = (name: string, value: string): Entry => ({ name, value });
const file = (name: string, digest: string, filename?: string): Entry => ({ name, file: { digest }, filename });
const print = (...entries: Entry[]) => fingerprintOf({ kind: "form", entries }, { user: true, webhook: true });

const first = print(text("prompt", "x"), file("image", "aa", "a.png"));

it("is the same in another order, under the second name of a file field and with another file name", () => {
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(print(file("i_image", "aa", "other.png"), text("prompt", "x"))).toBe(first);
  expect(print(text("i_image", "https://a.example/"))).toBe(print(text("image", "https://a.example/")));
});

it("is another with any other field, text or file, also one that says what is the default", () => {
  const others = [
    print(text("prompt", "y"), file("image", "aa")),
    print(text("prompt", "x"), file("image", "bb")),
    print(text("prompt", "x"), file("image1", "aa")),
    print(text("prompt", "x"), text("image", "aa")),
    print(text("prompt", "x"), file("image", "aa"), text("strength", "0.5")),
    print(text("prompt", "x"), file("image", "aa"), text("strength", "")),
    print(text("prompt", "x"), file("image", "aa"), text("prompt", "x")),
    print(text("prompt", "x"), file("image", "aa"), text("user", '{"id":1}')),
    print(text("prompt", "x"), file("image", "aa"), text("webhook", '{"url":1}')),
    print(),
    fingerprintOf({ kind: "not-multipart", ctx: {} }, { user: false, webhook: false }),
  ];
  expect(new Set([first, ...others]).size).toBe(others.length + 1);
});

it("takes the parts beside the model's own by what they say", () => {
  const user = print(text("user", '{"id": 1, "a": {"b": 2, "c": 3}}'));
  expect(print(text("user", '{"a":{"c":3,"b":2},"high_priority":null,"id":1}'))).toBe(user);
  const webhook = print(text("webhook", '{"url":"https://a.example/"}'));
  expect(print(text("webhook", '{"headers":{},"query_params":{},"url":"https://a.example/"}'))).toBe(webhook);
  for (const nothing of ["", "null", '{"url":""}']) expect(print(text("webhook", nothing))).toBe(print());
  for (const nothing of ["", "null"]) expect(print(text("user", nothing))).toBe(print());
  const asField = fingerprintOf({ kind: "form", entries: [text("user", "null")] }, { user: false, webhook: false });
  expect(asField).not.toBe(print());
});
