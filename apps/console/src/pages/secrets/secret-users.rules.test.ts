import type { ModelCard } from "@gantry/sdk";
import { expect, test } from "vitest";
import { lossWithout, modelsBySecret } from "./secret-users.rules.ts";

const card = (owner: string, name: string, secret?: string) =>
  ({
    owner,
    name,
    endpoint_id: `${owner}/${name}`,
    backend: { type: "openai-chat", ...(secret && { secret }) },
  }) as ModelCard;

test("finds the models of the owner that name a secret", () => {
  const models = [card("ann", "a", "key"), card("ann", "b", "key"), card("ann", "c"), card("bob", "d", "key")];
  expect([...modelsBySecret(models, "ann")]).toEqual([["key", ["ann/a", "ann/b"]]]);
});

test("says what fails without it", () => {
  expect(lossWithout(["ann/a"])).toBe("ann/a fails until one of that name is stored again.");
  expect(lossWithout(["ann/a", "ann/b", "ann/c"])).toBe(
    "ann/a, ann/b and ann/c fail until one of that name is stored again.",
  );
  expect(lossWithout([])).toBe("None of your models names it.");
  expect(lossWithout(undefined)).toMatch(/^Models that name it fail/);
});
