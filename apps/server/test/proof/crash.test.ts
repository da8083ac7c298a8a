import { expect, test } from "vitest";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { ownRabbitMq } from "../support/rabbitmq.ts";
import { type Engine, runCrashStorm } from "./crash-storm.ts";

// `npm run soak -- --storms` runs 1,000 jobs with a random seed.
async function expectNoFaults(brokers: Engine[], env: Record<string, string>): Promise<void> {
  const postgres = await startOwnPostgres();
  const lines: string[] = [];
  try {
    const report = await runCrashStorm({
      database: { url: postgres.url, engine: { name: "postgresql", kill: postgres.kill, start: postgres.start } },
      seed: 20260802,
      jobs: 200,
      brokers,
      env,
      say: (line) => lines.push(line),
    });
    expect(report.faults, lines.join("\n")).toEqual([]);
    expect(report.recovered, lines.join("\n")).toBeGreaterThan(0);
  } finally {
    await postgres.stop();
  }
}

test("200 jobs end, are charged once and delivered under one id though a worker, the API and PostgreSQL are killed", async () => {
  await expectNoFaults([], {});
}, 300_000);

test("the same with RabbitMQ, which is killed too", async (context) => {
  const rabbit = await ownRabbitMq();
  if (!rabbit) return context.skip();
  try {
    await expectNoFaults([{ name: "rabbitmq", kill: rabbit.kill, start: rabbit.start }], { AMQP_URL: rabbit.url(0) });
  } finally {
    await rabbit.stop();
  }
}, 300_000);
