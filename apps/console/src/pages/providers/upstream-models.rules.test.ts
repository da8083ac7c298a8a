import type { DiscoveredModel, ImportResult } from "@gantry/sdk";
import { expect, test } from "vitest";
import {
  batchesOf,
  choiceOf,
  factsOf,
  isPriceMissing,
  matching,
  pricesToSet,
  priceText,
  summaryOf,
} from "./upstream-models.rules.ts";

const model = (id: string, changes: Partial<DiscoveredModel> = {}): DiscoveredModel => ({
  id,
  name: id.replace(/[^a-z0-9]/g, "-"),
  title: id,
  description: "",
  kind: "text",
  context_window: null,
  max_output_tokens: null,
  model_size_in_billions: null,
  input_modalities: ["text"],
  output_modalities: ["text"],
  tools: null,
  pricing: null,
  imported: null,
  ...changes,
});

const vendorForAll = { isHosted: true, isForEveryone: true };
const vendorForMe = { isHosted: true, isForEveryone: false };
const serverForAll = { isHosted: false, isForEveryone: true };

test("every word of a search must match", () => {
  const models = [model("llama3.2:3b"), model("llama3.2:70b"), model("nomic-embed", { kind: "embedding" })];
  expect(matching(models, " LLAMA 70b").map(({ id }) => id)).toEqual(["llama3.2:70b"]);
  expect(matching(models, "embedding").map(({ id }) => id)).toEqual(["nomic-embed"]);
  expect(matching(models, "")).toHaveLength(3);
});

test("only facts that the upstream states are shown", () => {
  expect(factsOf(model("a"))).toEqual([]);
  const known = { context_window: 131_072, tools: true, input_modalities: ["text", "image"] as const };
  expect(factsOf(model("a", { ...known, input_modalities: [...known.input_modalities] }))).toEqual([
    "131K context",
    "Reads images",
    "Tools",
  ]);
});

test("a self-hosted server is free, and a vendor's unknown price is not shown as one", () => {
  expect(priceText(model("a"), serverForAll)).toEqual(["Free"]);
  expect(priceText(model("a"), vendorForMe)).toEqual(["Billed by the vendor"]);
  expect(priceText(model("a"), vendorForAll)).toEqual([]);
  const pricing = { per_million_input_tokens: 2 };
  expect(priceText(model("a", { pricing }), vendorForAll)).toEqual(["$2.00 per 1M input tokens"]);
});

test("a vendor's model needs a price for everyone, unless the vendor states one", () => {
  const texts = { per_million_input_tokens: "1", per_million_output_tokens: " " };
  expect(isPriceMissing(model("a"), texts, vendorForAll)).toBe(true);
  expect(isPriceMissing(model("a"), { ...texts, per_million_output_tokens: "0" }, vendorForAll)).toBe(false);
  expect(isPriceMissing(model("a"), {}, serverForAll)).toBe(false);
  for (const mistyped of ["0,5", "-1", "1e999", "1.2.3"]) {
    expect(isPriceMissing(model("a"), { per_million_input_tokens: mistyped }, serverForAll)).toBe(true);
  }
  expect(isPriceMissing(model("a", { pricing: {} }), {}, vendorForAll)).toBe(false);
  expect(pricesToSet(model("a"), vendorForMe)).toEqual([]);
  expect(pricesToSet(model("a", { kind: "image" }), vendorForAll)).toEqual([["per_output", "$ per image"]]);
});

test("a choice has the typed prices only", () => {
  const texts = { per_million_input_tokens: "0.5", per_million_output_tokens: "" };
  expect(choiceOf(model("a"), texts, serverForAll)).toEqual({ id: "a", pricing: { per_million_input_tokens: 0.5 } });
  expect(choiceOf(model("a"), texts, vendorForMe)).toEqual({ id: "a" });
});

test("large choices are sent in parts", () => {
  const choices = Array.from({ length: 401 }, (_, n) => ({ id: String(n) }));
  expect(batchesOf(choices).map(({ length }) => length)).toEqual([200, 200, 1]);
  expect(batchesOf(choices).flat()).toEqual(choices);
  expect(batchesOf([])).toEqual([]);
});

test("a summary counts the outcomes", () => {
  const result = (outcome: ImportResult["outcome"]): ImportResult => ({
    id: outcome,
    endpoint_id: null,
    outcome,
    kept: [],
    message: null,
  });
  expect(summaryOf([result("failed"), result("created"), result("created")])).toBe("2 imported, 1 failed");
  expect(summaryOf([])).toBe("Nothing to update");
});
