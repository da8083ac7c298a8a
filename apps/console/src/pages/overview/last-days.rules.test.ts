import { expect, test } from "vitest";
import { lastDays } from "./last-days.rules.ts";

test("the last days are UTC days, today last", () => {
  const days = lastDays(3, new Date("2026-03-01T23:30:00Z"));
  expect(days.map(({ title }) => title)).toEqual(["27 Feb", "28 Feb", "1 Mar"]);
  expect(days.at(-1)).toMatchObject({ first: "2026-03-01T00:00:00Z", last: "2026-03-01T23:59:59.999999Z" });
});
