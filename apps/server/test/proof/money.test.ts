import { expect, test } from "vitest";
import { testDatabaseUrl } from "../support/database.ts";
import { runMoneyStorm } from "./money-storm.ts";

// `npm run soak -- --storms` uses a random seed and many rounds.
test("three processes, 500 paid calls at once, kills and disconnects: every micro-dollar is accounted for", async () => {
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
  // Calls were charged.
  expect(report.told.done, JSON.stringify(report.told)).toBeGreaterThan(20);
  expect(report.told.accepted).toBeGreaterThan(50);
  expect(report.told.lost).toBeGreaterThan(0);
  // The marketplace was hostile and made sales.
  for (const [what, count] of Object.entries(report.market)) expect(count, what).toBeGreaterThan(0);
}, 300_000);
