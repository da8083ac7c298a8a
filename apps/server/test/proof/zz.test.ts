import { expect, test } from "vitest";
import { testDatabaseUrl } from "../support/database.ts";
import { runMoneyStorm } from "./money-storm.ts";
test("x", async () => {
  const t0 = Date.now();
  const report = await runMoneyStorm({ databaseUrl: await testDatabaseUrl(), seed: 20260801, calls: 500, rounds: 1, killsARound: 2,
    say: (line) => { process.stderr.write(`${((Date.now() - t0)/1000).toFixed(1)} ${line}\n`); } });
  expect(report.faults).toEqual([]);
}, 180_000);
