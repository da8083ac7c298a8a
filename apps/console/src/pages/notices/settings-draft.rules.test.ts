import { expect, test } from "vitest";
import { draftIssues, draftOf, settingsOf } from "./settings-draft.rules.ts";

const stored = { balance_below: 2.5, budget_percent: 80, webhook: { url: "https://example.com/low" } };

test("what is unchanged goes back without the webhook", () => {
  const draft = draftOf(stored);
  expect(draftIssues(draft)).toEqual({});
  expect(settingsOf(draft, stored)).toEqual({ balance_below: 2.5, budget_percent: 80 });
});

test("an empty field turns its notice off, and an empty address the webhook", () => {
  const empty = { below: " ", percent: "", url: "" };
  expect(draftIssues(empty)).toEqual({});
  expect(settingsOf(empty, stored)).toEqual({ balance_below: null, budget_percent: null, webhook: null });
  expect(settingsOf(empty, { ...stored, webhook: null })).toEqual({ balance_below: null, budget_percent: null });
  expect(settingsOf({ ...empty, url: " https://other.example " }, stored).webhook).toEqual({
    url: "https://other.example",
  });
});

test.each([
  [{ below: "-1" }, ["below"]],
  [{ below: "much" }, ["below"]],
  [{ percent: "0" }, ["percent"]],
  [{ percent: "100.5" }, ["percent"]],
  [{ percent: "101", below: "x" }, ["below", "percent"]],
])("%j is refused", (change, names) => {
  expect(Object.keys(draftIssues({ below: "1", percent: "80", url: "", ...change }))).toEqual(names);
});
