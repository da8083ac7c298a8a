import { expect, test } from "vitest";
import { testDatabaseUrl } from "../support/database.ts";
import { runMoneyStorm } from "./money-storm.ts";

// The long form, with a random seed and many rounds, is `npm run soak`.
test("three processes, 500 paid calls at once, kills and leavers: every millionth is accounted for", async () => {
  const lines: string[] = [];
  const report = await runMoneyStorm({
    databaseUrl: await testDatabaseUrl(),
    seed: 20260801,
    calls: 500,
    rounds: 1,
    killsARound: 2,
    say: (line) => lines.push(line),
  });
  expect(report.faults, lines.join("\n")).toEqual([]);
  // It was a storm, and not a calm in which nothing was paid.
  expect(report.told.done, JSON.stringify(report.told)).toBeGreaterThan(20);
  expect(report.told.accepted).toBeGreaterThan(50);
  expect(report.told.lost).toBeGreaterThan(0);
  // The marketplace was hostile, and did business.
  for (const [what, count] of Object.entries(report.market)) expect(count, what).toBeGreaterThan(0);
}, 300_000);
