import { describe, expect, test } from "vitest";
import { cronPresets, cronText } from "./cron-text.rules.ts";

describe("a cron expression in words", () => {
  test.each([
    ["0 9 * * MON-FRI", "Every weekday at 9:00"],
    ["0 9 * * 1-5", "Every weekday at 9:00"],
    ["30 8,17 * * *", "Every day at 8:30 and 17:30"],
    ["0 9 * * 1,4", "Every Monday and Thursday at 9:00"],
    ["0 10 * * SAT,SUN", "Every Saturday and Sunday at 10:00"],
    ["0 10 * * 7", "Every Sunday at 10:00"],
    ["5 4 1 * *", "On the first day of each month at 4:05"],
    ["0 0 1,15 * *", "On day 1 and 15 of each month at 0:00"],
    ["0 18 L * *", "On the last day of each month at 18:00"],
    ["0 9 1 JAN,JUL *", "On the first day of each month in January and July at 9:00"],
    ["*/15 * * * *", "Every 15 minutes"],
    ["* * * * *", "Every minute"],
    ["*/10 9-17 * * 1-5", "Every 10 minutes from 9:00 to 17:59, every weekday"],
    ["0 * * * *", "Every hour"],
    ["20 * * * *", "Every hour at 20 minutes past the hour"],
    ["0 */6 * * *", "Every 6 hours"],
    ["0 9-17 * * *", "Every hour from 9:00 to 17:59"],
  ])("%s", (cron, text) => {
    expect(cronText(cron)).toBe(text);
  });

  test.each(["", "hello", "0 9 * *", "0 25 * * *", "61 9 * * *", "0 9 1 * MON", "0 9 * * MON#2", "0 9 5-1 * *"])(
    "%s has no sentence",
    (cron) => {
      expect(cronText(cron)).toBeUndefined();
    },
  );

  test("presets read as they are labelled", () => {
    for (const { label, cron } of cronPresets) expect(cronText(cron)).toBe(label);
  });
});
