import { expect, test } from "vitest";
import { timeZones, zonedTime } from "./zoned-time.rules.ts";

const plain = (text: string | undefined) => text?.replaceAll("\u202f", " ");

test("a time is shown in the zone of the schedule and in that of the reader", () => {
  const { there, here } = zonedTime("2026-11-23T08:00:00Z", "Europe/Berlin", "America/New_York", "en-US");
  expect([plain(there), plain(here)]).toEqual(["Mon, Nov 23, 9:00 AM", "3:00 AM"]);
});

test("another day is named", () => {
  const { here } = zonedTime("2026-11-22T23:00:00Z", "Europe/Berlin", "America/New_York", "en-US");
  expect(plain(here)).toBe("Sun, Nov 22, 6:00 PM");
});

test("readers in a zone with the same clock see it once", () => {
  expect(zonedTime("2026-11-23T08:00:00Z", "Europe/Berlin", "Europe/Paris", "en-US").here).toBeUndefined();
});

test("a zone that the browser does not know does not break the page", () => {
  expect(zonedTime("2026-11-23T08:00:00Z", "Mars/Base", "UTC", "en-US")).toMatchObject({
    there: "2026-11-23T08:00:00Z",
  });
});

test("UTC can be chosen", () => {
  expect(timeZones()[0]).toBe("UTC");
});
