import { expect, test } from "vitest";
import { listMoments } from "./time-range.rules.ts";

const now = Date.parse("2026-02-01T12:00:00Z");

test("a named range ends now, so that new predictions appear", () => {
  expect(listMoments({ range: "24h" }, now)).toEqual({ from_date: "2026-01-31T12:00:00.000Z", to_date: undefined });
});

test("days are whole days, and either end may be open", () => {
  expect(listMoments({ from: "2026-01-31" }, now)).toEqual({ from_date: "2026-01-31T00:00:00Z", to_date: undefined });
  expect(listMoments({ to: "2026-01-31" }, now).to_date).toBe("2026-01-31T23:59:59.999999Z");
  expect(listMoments({}, now)).toEqual({ from_date: undefined, to_date: undefined });
});
