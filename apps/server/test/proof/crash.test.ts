import { expect, test } from "vitest";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { runCrashStorm } from "./crash-storm.ts";

// The long form, with 1,000 jobs and a random seed, is `npm run soak`.
test("200 jobs end, are paid once and told under one id though a worker, the API and PostgreSQL are killed", async () => {
  const postgres = await startOwnPostgres();
  const lines: string[] = [];
  try {
    const report = await runCrashStorm({
      databaseUrl: postgres.url,
      seed: 20260802,
      jobs: 200,
      engines: [{ name: "postgresql", ...postgres }],
      say: (line) => lines.push(line),
    });
    expect(report.faults, lines.join("\n")).toEqual([]);
    expect(report.recovered, lines.join("\n")).toBeGreaterThan(0);
  } finally {
    await postgres.stop();
  }
}, 300_000);
