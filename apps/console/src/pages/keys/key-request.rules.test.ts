import { expect, test } from "vitest";
import { draftIssues, emptyDraft, keyRequest } from "./key-request.rules.ts";

const now = new Date("2026-03-01T10:00:00Z");

test("an empty form asks for a key without bounds", () => {
  expect(keyRequest(emptyDraft, now)).toEqual({ name: "", expires_at: null, models: null, monthly_limit: null });
});

test("days count from now, a chosen day counts to its end", () => {
  expect(keyRequest({ ...emptyDraft, expiry: "7" }, now).expires_at).toBe("2026-03-08T10:00:00.000Z");
  expect(keyRequest({ ...emptyDraft, expiry: "date", date: "2026-12-31" }, now).expires_at).toBe(
    "2026-12-31T23:59:59Z",
  );
});

test("a list of models counts only where it was chosen", () => {
  const draft = { ...emptyDraft, models: ["gantry/image"] };
  expect(keyRequest(draft, now).models).toBeNull();
  expect(keyRequest({ ...draft, reach: "some" }, now).models).toEqual(["gantry/image"]);
});

test("a limit of 0 is a limit", () => {
  expect(keyRequest({ ...emptyDraft, limit: "0" }, now).monthly_limit).toBe(0);
  expect(keyRequest({ ...emptyDraft, limit: " 2.50 " }, now).monthly_limit).toBe(2.5);
});

test("says what is missing before it is sent", () => {
  expect(draftIssues(emptyDraft)).toEqual({});
  expect(Object.keys(draftIssues({ ...emptyDraft, limit: "-2" }))).toEqual(["limit"]);
  expect(draftIssues({ ...emptyDraft, expiry: "date", reach: "some", limit: "two" })).toEqual({
    date: "Choose the last day on which it works",
    models: "Add one model at least",
    limit: "Must be a number of dollars, 0 or more",
  });
});
