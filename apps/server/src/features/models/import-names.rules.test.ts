import { modelNamePattern } from "@gantry/wire";
import { expect, test } from "vitest";
import { namesFor } from "./import-names.rules.ts";

const nameOf = (id: string) => namesFor([{ id }], []).get(id);

test.each([
  ["llama3.2:3b", "llama3.2-3b"],
  ["meta-llama/Llama-3.3-70B-Instruct", "meta-llama-llama-3.3-70b-instruct"],
  ["~/models/Qwen 3 (8B).gguf", "models-qwen-3-8b-.gguf"],
  ["--", "model"],
  ["模型", "model"],
  [".hidden", "hidden"],
  ["ends-", "ends"],
])("%s becomes %s", (id, name) => {
  expect(nameOf(id)).toBe(name);
});

test("every text becomes a name that a model can have", () => {
  for (const id of [
    "x".repeat(200),
    "/".repeat(200),
    "İstanbul",
    "a\u0000b",
    `${"a".repeat(62)}//b`,
    "🦙",
    "_x",
    "-",
  ]) {
    expect(nameOf(id), id).toMatch(modelNamePattern);
  }
});

test("names that are equal but for such characters are numbered, and imported ones keep theirs", () => {
  const ids = ["a:1", "a/1", "A 1", "b"].map((id) => ({ id }));
  expect([...namesFor(ids, [])]).toEqual([
    ["a:1", "a-1"],
    ["a/1", "a-1-2"],
    ["A 1", "a-1-3"],
    ["b", "b"],
  ]);
  const imported = [{ name: "a-1", upstreamId: "A 1" }];
  expect(namesFor(ids, imported).get("A 1")).toBe("a-1");
  expect(namesFor(ids, imported).get("a:1")).toBe("a-1-2");
  const long = ["x".repeat(70), "x".repeat(80)].map((id) => ({ id }));
  const names = [...namesFor(long, []).values()];
  expect(new Set(names).size).toBe(2);
  for (const name of names) expect(name).toMatch(modelNamePattern);
});

test("a hostile list is named in time", () => {
  const ids = Array.from({ length: 5000 }, (_, n) => ({
    id: `${"/".repeat(n % 7)}a${"/".repeat(n)}`.slice(0, 200) + n,
  }));
  expect(namesFor(ids, []).size).toBe(5000);
});
