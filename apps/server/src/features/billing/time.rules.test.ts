import { describe, expect, it } from "vitest";
import {
  cutTime,
  microsOfMoment,
  momentOfMicros,
  readMoment,
  type Span,
  shownMoment,
  spanOf,
  type TimeCut,
  withinRows,
  withinSums,
} from "./time.rules.ts";

describe("a moment", () => {
  it.each([
    ["2026-01-31T23:59:59", "2026-01-31T23:59:59.000000Z"],
    ["2026-01-31T23:59", "2026-01-31T23:59:00.000000Z"],
    ["2026-01-31 23:59:59", "2026-01-31T23:59:59.000000Z"],
    ["2026-01-31T23:59:59Z", "2026-01-31T23:59:59.000000Z"],
    ["2026-01-31t23:59:59z", "2026-01-31T23:59:59.000000Z"],
    ["2026-01-31T23:59:59.5", "2026-01-31T23:59:59.500000Z"],
    ["2026-01-31T23:59:59,123456", "2026-01-31T23:59:59.123456Z"],
    ["2026-01-31T23:59:59.123456789Z", "2026-01-31T23:59:59.123456Z"],
    ["2026-02-01T01:30:00+02:00", "2026-01-31T23:30:00.000000Z"],
    ["2026-02-01T01:30:00 02:00", "2026-01-31T23:30:00.000000Z"],
    ["2026-01-31T18:30:00-0530", "2026-02-01T00:00:00.000000Z"],
    ["2026-01-31T18:30:00-05", "2026-01-31T23:30:00.000000Z"],
    ["2024-02-29T00:00:00", "2024-02-29T00:00:00.000000Z"],
    ["0001-01-01T00:00:00", "0001-01-01T00:00:00.000000Z"],
    ["9999-12-31T23:59:59", "9999-12-31T23:59:59.000000Z"],
  ])("%s is %s", (text, moment) => {
    expect(readMoment(text)).toBe(moment);
  });

  it.each([
    "",
    "yesterday",
    "2026-01-31",
    "1738368000",
    "2026-13-01T00:00:00",
    "2026-02-29T00:00:00",
    "2026-02-30T00:00:00",
    "2026-01-31T24:00:00",
    "2026-01-31T23:60:00",
    "2026-01-31T23:59:60",
    "2026-01-31T23:59:59+24:00",
    "2026-01-31T23:59:59+02:60",
    "2026-01-31T23:59:59.",
    "2026-01-31T23:59:59 UTC",
    "26-01-31T23:59:59",
    "0000-01-01T00:00:00",
    "0001-01-01T00:00:00+01:00",
    "9999-12-31T23:59:59-01:00",
    " 2026-01-31T23:59:59",
    "2026-01-31T23:59:59\n",
  ])("%j is invalid", (text) => {
    expect(readMoment(text)).toBeUndefined();
  });

  it("is shown in milliseconds, or in microseconds if it has any", () => {
    expect(shownMoment("2026-01-31T23:59:59.000000Z")).toBe("2026-01-31T23:59:59.000Z");
    expect(shownMoment("2026-01-31T23:59:59.120000Z")).toBe("2026-01-31T23:59:59.120Z");
    expect(shownMoment("2026-01-31T23:59:59.120001Z")).toBe("2026-01-31T23:59:59.120001Z");
  });

  it("converts to a number and back", () => {
    for (const moment of [
      "1970-01-01T00:00:00.000000Z",
      "2026-01-31T23:59:59.123456Z",
      "2199-12-31T23:59:59.000001Z",
    ]) {
      expect(momentOfMicros(microsOfMoment(moment))).toBe(moment);
    }
    expect(microsOfMoment("0001-01-01T00:00:00.000000Z")).toBe(0);
    expect(momentOfMicros(microsOfMoment("9999-12-31T23:59:59.999999Z"))).toBe("2200-01-01T00:00:00.000000Z");
    expect([-1, 32 ** 10 * 1000].map(momentOfMicros)).toEqual([
      "1970-01-01T00:00:00.000000Z",
      "2200-01-01T00:00:00.000000Z",
    ]);
  });
});

const at = (text: string): number => microsOfMoment(`${text}.000000Z`);
const hour = 3_600_000_000;
const day = 24 * hour;
const whole = { now: 0, horizon: 0, daysBefore: 0, foldedUntil: Number.POSITIVE_INFINITY };
const closed = { ...whole, daysBefore: at("2026-03-20T00:00:00") };
const holds = (span: Span, time: number): boolean => span.from <= time && time < span.to;

/** How often the parts of a cut count a row at that time. The sums contain folded rows. */
function counted({ days, hours, rows }: TimeCut, time: number, foldedUntil: number): number {
  const ofDay = Math.floor(time / day) * day;
  const ofHour = Math.floor(time / hour) * hour;
  const inSums = Number(holds(days, ofDay)) + hours.filter((span) => holds(span, ofHour)).length;
  return (
    (time <= foldedUntil ? inSums : 0) +
    rows.filter((span) => holds(span, time)).reduce((sum, { sign }) => sum + sign, 0)
  );
}

describe("cutting a span", () => {
  it("counts every row of the span once and no other", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const base = at("2026-03-10T00:00:00");
    const somewhere = (): number => {
      const time = base + random(15 * 24) * hour;
      return [time, time + 1, time - 1, time + random(3_600_000) * 1000][random(4)] as number;
    };
    for (let i = 0; i < 5_000; i++) {
      const [one, other] = [somewhere(), somewhere()];
      const span = {
        from: Math.min(one, other),
        to: random(8) === 0 ? Number.POSITIVE_INFINITY : Math.max(one, other),
      };
      const marks = { ...(random(3) === 0 ? whole : closed), ...(random(2) === 0 && { foldedUntil: somewhere() }) };
      const cut = cutTime(span, marks);
      const near = [span.from, span.to, cut.days.from, cut.days.to, marks.foldedUntil].filter(Number.isFinite);
      for (const time of [
        ...near.flatMap((edge) => [edge - 1, edge, edge + 1]),
        somewhere(),
        somewhere(),
        somewhere(),
      ]) {
        if (time < 0) continue;
        expect(counted(cut, time, marks.foldedUntil), JSON.stringify({ span, cut, time })).toBe(
          holds(span, time) ? 1 : 0,
        );
      }
    }
  });

  it("uses closed days, and reads at most half an hour of rows at each end", () => {
    const cut = cutTime({ from: at("2026-03-01T10:45:00"), to: at("2026-03-25T23:59:59") + 1 }, closed);
    expect(cut).toEqual({
      days: { from: at("2026-03-02T00:00:00"), to: at("2026-03-20T00:00:00") },
      hours: [
        { from: at("2026-03-01T11:00:00"), to: at("2026-03-02T00:00:00") },
        { from: at("2026-03-20T00:00:00"), to: at("2026-03-26T00:00:00") },
      ],
      rows: [
        { from: at("2026-03-01T10:45:00"), to: at("2026-03-01T11:00:00"), sign: 1 },
        { from: at("2026-03-25T23:59:59") + 1, to: at("2026-03-26T00:00:00"), sign: -1 },
      ],
    });
  });

  it("keeps an hour with subtracted rows out of the days", () => {
    const { days, hours } = cutTime({ from: at("2026-03-05T00:10:00"), to: at("2026-03-07T23:59:59") }, closed);
    expect(days).toEqual({ from: at("2026-03-06T00:00:00"), to: at("2026-03-07T00:00:00") });
    expect(hours).toContainEqual({ from: at("2026-03-05T00:00:00"), to: at("2026-03-06T00:00:00") });
  });

  it("reads rows that are not folded", () => {
    const foldedUntil = at("2026-03-19T12:34:56");
    expect(cutTime({ from: 0, to: Number.POSITIVE_INFINITY }, { ...closed, foldedUntil }).rows).toEqual([
      { from: foldedUntil + 1, to: Number.POSITIVE_INFINITY, sign: 1 },
    ]);
  });

  it("reads no rows for an unbounded span or whole hours", () => {
    expect(cutTime({ from: 0, to: Number.POSITIVE_INFINITY }, closed).rows).toEqual([]);
    expect(cutTime({ from: at("2026-03-05T01:00:00"), to: at("2026-03-07T02:00:00") }, closed).rows).toEqual([]);
    expect(cutTime({ from: 5, to: 5 }, closed)).toEqual({ days: { from: 0, to: 0 }, hours: [], rows: [] });
  });
});

describe("a requested range", () => {
  const now = at("2026-03-21T12:00:00");
  const marks = { ...whole, now, horizon: at("2026-02-01T00:00:00") };

  it("includes both ends, and is unbounded if the end is not past", () => {
    const asked = { from: "2026-03-01T00:00:00.000000Z", to: "2026-03-02T00:00:00.000000Z" };
    expect(spanOf(asked, now)).toEqual({ from: at("2026-03-01T00:00:00"), to: at("2026-03-02T00:00:00") + 1 });
    expect(spanOf({ from: undefined, to: undefined }, now)).toEqual({ from: 0, to: Number.POSITIVE_INFINITY });
    expect(spanOf({ ...asked, to: "2026-03-21T12:00:00.000000Z" }, now).to).toBe(Number.POSITIVE_INFINITY);
    expect(spanOf({ ...asked, to: "2026-03-21T11:59:59.999999Z" }, now).to).toBe(now);
  });

  it("starts lists at the horizon, and rounds sums to hours before it", () => {
    const early = { from: at("2026-01-05T10:10:00"), to: at("2026-01-07T23:59:59") + 1 };
    expect(withinRows(early, marks).from).toBe(marks.horizon);
    expect(withinSums(early, marks)).toEqual({ from: at("2026-01-05T10:00:00"), to: at("2026-01-08T00:00:00") });
    const late = { from: at("2026-02-05T10:10:00"), to: at("2026-02-07T23:59:59") };
    expect(withinSums(late, marks)).toEqual(late);
  });
});
