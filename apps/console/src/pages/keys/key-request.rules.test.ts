import { expect, test } from "vitest";
import { draftIssues, emptyDraft, keyRequest, limitsOfDraft } from "./key-request.rules.ts";

const now = new Date("2026-03-01T10:00:00Z");

test("an empty form creates a key without limits", () => {
  expect(keyRequest(emptyDraft, now)).toEqual({
    ...{ name: "", expires_at: null, models: null },
    ...{ monthly_limit: null, daily_limit: null, tokens_per_minute: null },
  });
});

test("a number of days counts from now, and a date includes its whole day", () => {
  expect(keyRequest({ ...emptyDraft, expiry: "7" }, now).expires_at).toBe("2026-03-08T10:00:00.000Z");
  expect(keyRequest({ ...emptyDraft, expiry: "date", date: "2026-12-31" }, now).expires_at).toBe(
    "2026-12-31T23:59:59Z",
  );
});

test("models apply only with limited access", () => {
  const draft = { ...emptyDraft, models: ["gantry/image"] };
  expect(keyRequest(draft, now).models).toBeNull();
  expect(keyRequest({ ...draft, access: "some" }, now).models).toEqual(["gantry/image"]);
});

test("a limit of 0 is a limit", () => {
  expect(keyRequest({ ...emptyDraft, limit: "0" }, now).monthly_limit).toBe(0);
  expect(keyRequest({ ...emptyDraft, limit: " 2.50 " }, now).monthly_limit).toBe(2.5);
  expect(limitsOfDraft({ limit: "", dailyLimit: "0", tokens: "20000" })).toEqual({
    ...{ monthly_limit: null, daily_limit: 0, tokens_per_minute: 20_000 },
  });
});

test("inputs are kept unless the key opts out", () => {
  expect(keyRequest(emptyDraft, now)).not.toHaveProperty("keep_inputs");
  expect(keyRequest({ ...emptyDraft, keepInputs: false }, now).keep_inputs).toBe(false);
});

test("missing values are reported before sending", () => {
  expect(draftIssues(emptyDraft)).toEqual({});
  expect(Object.keys(draftIssues({ ...emptyDraft, limit: "-2" }))).toEqual(["limit"]);
  expect(Object.keys(draftIssues({ ...emptyDraft, limit: "Infinity", dailyLimit: "1e999" }))).toEqual([
    "limit",
    "dailyLimit",
  ]);
  expect(Object.keys(draftIssues({ ...emptyDraft, dailyLimit: "x", tokens: "0" }))).toEqual(["dailyLimit", "tokens"]);
  expect(draftIssues({ ...emptyDraft, expiry: "date", access: "some", limit: "two" })).toEqual({
    date: "Choose the last day on which the key works",
    models: "Add at least one model",
    limit: "Must be an amount in dollars, 0 or more",
  });
});
