import type { ModelCard, ProviderRecord } from "@gantry/sdk";
import { expect, test } from "vitest";
import { effectOfDeletion, modelsBySecret, providersBySecret } from "./secret-users.rules.ts";

const card = (owner: string, name: string, secret?: string) =>
  ({
    owner,
    name,
    endpoint_id: `${owner}/${name}`,
    backend: { type: "openai-chat", ...(secret && { secret }) },
  }) as ModelCard;

test("only models of the owner count as users of a secret", () => {
  const models = [card("ann", "a", "key"), card("ann", "b", "key"), card("ann", "c"), card("bob", "d", "key")];
  expect([...modelsBySecret(models, "ann")]).toEqual([["key", ["ann/a", "ann/b"]]]);
});

test("secrets in headers, queries and each of several backends count once", () => {
  const several = {
    ...card("ann", "several"),
    backend: undefined,
    backends: [
      { type: "openai-chat", secret: "key", headers: { authorization: "Bearer {{secret:key}}" } },
      { type: "openai-chat", query: { token: "{{ secret: other.key }}" } },
    ],
  } as unknown as ModelCard;
  expect([...modelsBySecret([several], "ann")]).toEqual([
    ["key", ["ann/several"]],
    ["other.key", ["ann/several"]],
  ]);
});

test("providers use secrets too", () => {
  const provider = (owner: string, name: string, secret: string | null, headers = {}) =>
    ({ owner, name, secret, headers, query: {} }) as ProviderRecord;
  const all = [
    provider("ann", "a", "key"),
    provider("ann", "b", null, { "x-key": "{{secret:key}}" }),
    provider("gantry", "c", "key"),
  ];
  expect([...providersBySecret(all, "ann")]).toEqual([["key", ["a", "b"]]]);
});

test("the effect of a deletion names the models", () => {
  expect(effectOfDeletion({ models: ["ann/a"], providers: [] })).toBe("ann/a fails until you save this secret again.");
  expect(effectOfDeletion({ models: ["ann/a", "ann/b"], providers: ["rack"] })).toBe(
    "ann/a, ann/b and provider rack fail until you save this secret again.",
  );
  expect(effectOfDeletion({ models: [], providers: [] })).toBe("None of your models and providers use this secret.");
  expect(effectOfDeletion(undefined)).toMatch(/^Models that use this secret fail/);
});
