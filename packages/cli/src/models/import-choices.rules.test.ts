import type { DiscoveredModel } from "@gantry/sdk";
import { expect, test } from "vitest";
import { choicesOf, chosenFrom } from "./import-choices.rules.ts";

const model = (id: string, kind: DiscoveredModel["kind"] = "text") => ({ id, kind }) as DiscoveredModel;
const models = [model("a"), model("b"), model("3"), model("d"), model("e")];
const chosen = (typed: string) => {
  const found = chosenFrom(models, typed);
  return Array.isArray(found) ? found.map(({ id }) => id) : found;
};

test("models are chosen by number, range, id or all of them", () => {
  expect(chosen("1, 4-5")).toEqual(["a", "d", "e"]);
  expect(chosen("b a b")).toEqual(["a", "b"]);
  expect(chosen("ALL")).toHaveLength(5);
  expect(chosen(" ")).toEqual([]);
  // An id wins over a number.
  expect(chosen("3")).toEqual(["3"]);
  expect(chosen("1 9")).toEqual({ unknown: "9" });
  expect(chosen("5-4")).toEqual({ unknown: "5-4" });
  expect(chosen("0")).toEqual({ unknown: "0" });
});

test("each kind of model takes its own prices, and unknown ids are sent as they are", () => {
  const prices = { in: 0.5, out: 2, each: undefined };
  expect(choicesOf([model("a"), model("v", "embedding"), model("i", "image")], prices, ["a", "x"])).toEqual([
    { id: "a", pricing: { per_million_input_tokens: 0.5, per_million_output_tokens: 2 } },
    { id: "v", pricing: { per_million_input_tokens: 0.5 } },
    { id: "i" },
    { id: "x" },
  ]);
  expect(choicesOf([model("i", "image")], { in: 1, out: 1, each: 0 }, [])).toEqual([
    { id: "i", pricing: { per_output: 0 } },
  ]);
});
