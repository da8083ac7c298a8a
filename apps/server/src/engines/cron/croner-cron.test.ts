import { describe, expect, it } from "vitest";
import { createCron } from "./croner-cron.ts";

const cron = createCron();
const now = new Date("2026-01-15T12:00:00Z");

const problem = (expression: string, timezone = "UTC") => cron.check({ cron: expression, timezone }, now);
const after = (expression: string, timezone: string, from: string, count: number) =>
  cron.next({ cron: expression, timezone }, new Date(from), count).map((time) => time.toISOString().slice(0, 16));

describe("an expression", () => {
  it.each([
    "* * * * *",
    "0 9 * * MON-FRI",
    " */15  8-18 1,15 jan-mar * ",
    "0 0 L * *",
    "0 0 29 2 *",
    "0 0 29 2 +MON",
    "0 12 * * MON#2",
    "0 0 15W * ?",
    "@daily",
    "@Hourly",
  ])("%s is accepted", (expression) => {
    expect(problem(expression)).toBeUndefined();
    expect(cron.next({ cron: expression, timezone: "UTC" }, now, 1)).toHaveLength(1);
  });

  it.each([
    ["*/5 * * * * *", "at most once a minute"],
    ["0 0 1 1 * 2030 *", "at most once a minute"],
    ["* * * *", "has 4 fields"],
    ["", "Use five fields"],
    ["2030-01-01T00:00:00", "Use five fields"],
    ["60 * * * *", '"60" is not valid for the minute'],
    ["0 24 * * *", '"24" is not valid for the hour'],
    ["0 0 0 * *", '"0" is not valid for the day of the month'],
    ["0 0 1 13 *", '"13" is not valid for the month'],
    ["0 0 * * MOON", '"MOON" is not valid for the day of the week'],
    ["0 0 * * MON#6", '"MON#6" is not valid for the day of the week'],
    ["*/0 * * * *", '"*/0" is not valid for the minute'],
    ["5-1 * * * *", '"5-1" is not valid for the minute'],
    ["@reboot", "is not a known shorthand"],
    ["0 0 30 2 *", "is never due"],
    ["0 0 31 4,6,9,11 *", "is never due"],
    ["0 0 L * +MON#1", "is never due"],
  ])("%j is refused", (expression, text) => {
    expect(problem(expression)).toMatchObject({ field: "cron", message: expect.stringContaining(text) });
  });

  it.each(["Mars/Base", "+02:00", "", "Europe/Berlin "])("the time zone %j is refused", (timezone) => {
    expect(problem("0 9 * * *", timezone)).toMatchObject({ field: "timezone" });
  });
});

describe("the change to summer time", () => {
  it.each([
    // 02:30 does not exist on 29 March: due when the gap ends, at 03:00.
    ["Europe/Berlin", "2026-03-28T12:00Z", ["2026-03-29T01:00", "2026-03-30T00:30"]],
    ["America/New_York", "2026-03-07T12:00Z", ["2026-03-08T07:00", "2026-03-09T06:30"]],
  ])("in %s, a daily time in the gap is due once, when the gap ends", (zone, from, expected) => {
    expect(after("30 2 * * *", zone, from, 2)).toEqual(expected);
  });

  it.each([
    ["Europe/Berlin", "2026-03-29T00:00Z", ["2026-03-29T00:30", "2026-03-29T01:30", "2026-03-29T02:30"]],
    ["America/New_York", "2026-03-08T06:00Z", ["2026-03-08T06:30", "2026-03-08T07:30", "2026-03-08T08:30"]],
  ])("in %s, an hourly time follows real time", (zone, from, expected) => {
    expect(after("30 * * * *", zone, from, 3)).toEqual(expected);
  });
});

describe("the change to winter time", () => {
  it.each([
    // 02:30 occurs twice on 25 October.
    ["30 2 * * *", "Europe/Berlin", "2026-10-24T12:00Z", ["2026-10-25T00:30", "2026-10-26T01:30"]],
    ["30 1 * * *", "America/New_York", "2026-10-31T12:00Z", ["2026-11-01T05:30", "2026-11-02T06:30"]],
  ])("%s in %s is due once", (expression, zone, from, expected) => {
    expect(after(expression, zone, from, 2)).toEqual(expected);
    // Also if the search starts between the two occurrences.
    expect(after(expression, zone, `${expected[0]}:30Z`, 1)).toEqual(expected.slice(1));
  });

  it.each([
    ["Europe/Berlin", "2026-10-25T00:00Z", ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-25T02:30"]],
    ["America/New_York", "2026-11-01T05:00Z", ["2026-11-01T05:30", "2026-11-01T06:30", "2026-11-01T07:30"]],
  ])("in %s, an hourly time is due in both passes of the repeated hour", (zone, from, expected) => {
    expect(after("30 * * * *", zone, from, 3)).toEqual(expected);
  });
});

it("a zone without daylight saving keeps its distance from UTC", () => {
  expect(after("0 9 * * *", "Asia/Kolkata", "2026-03-28T12:00Z", 2)).toEqual(["2026-03-29T03:30", "2026-03-30T03:30"]);
});

it("the latest due time is at or before the moment", () => {
  const hourly = { cron: "0 * * * *", timezone: "Europe/Berlin" };
  const latest = (until: string) => cron.latest(hourly, new Date(until))?.toISOString();
  expect(latest("2026-05-01T10:00:00.000Z")).toBe("2026-05-01T10:00:00.000Z");
  expect(latest("2026-05-01T10:00:00.400Z")).toBe("2026-05-01T10:00:00.000Z");
  expect(latest("2026-05-01T09:59:59.999Z")).toBe("2026-05-01T09:00:00.000Z");
  // Between the two passes of a repeated hour.
  expect(latest("2026-10-25T01:10:00Z")).toBe("2026-10-25T01:00:00.000Z");
});

it("walking through a year finds each due time once, in order", () => {
  const berlin = { cron: "*/30 1-3 * * *", timezone: "Europe/Berlin" };
  const end = Date.UTC(2027, 0, 1);
  const seen: number[] = [];
  for (let at = new Date("2026-01-01T00:00:00Z"); at.getTime() < end; ) {
    const [found] = cron.next(berlin, at, 1);
    if (!found) break;
    seen.push(found.getTime());
    at = found;
  }
  expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other));
  // Six a day, without the start itself. The gap has two less, the repeated hour two more.
  const ofYear = seen.filter((time) => time < end);
  const batch = cron.next(berlin, new Date("2026-01-01T00:00:00Z"), ofYear.length).map((time) => time.getTime());
  expect(batch).toEqual(ofYear);
  expect(ofYear.length).toBe(365 * 6 - 1);
});
