import { type Engine, runCrashStorm } from "../../apps/server/test/proof/crash-storm.ts";
import { startOwnPostgres } from "../../apps/server/test/support/own-postgres.ts";
import { type RabbitMqNode, rabbitMq, startRabbitMqNode } from "../../apps/server/test/support/rabbitmq-node.ts";
import { obtain } from "../../apps/server/test/support/system-packages.ts";

/** A thousand jobs with webhooks, woken by PostgreSQL and, if it is installed, by RabbitMQ. */
export async function crashSoak(seed: number, say: (line: string) => void): Promise<string[]> {
  const trouble = await obtain(rabbitMq);
  if (trouble) say(`without RabbitMQ: ${trouble}`);
  const faults = await once(seed, undefined, say);
  if (trouble || faults.length > 0) return faults;
  const rabbit = await startRabbitMqNode(1);
  try {
    return await once(seed, rabbit, say);
  } finally {
    await rabbit.stop();
  }
}

async function once(seed: number, rabbit: RabbitMqNode | undefined, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  const brokers: Engine[] = rabbit ? [{ name: "rabbitmq", kill: rabbit.kill, start: rabbit.start }] : [];
  try {
    const report = await runCrashStorm({
      database: { url: postgres.url, engine: { name: "postgresql", kill: postgres.kill, start: postgres.start } },
      seed,
      jobs: 1000,
      brokers,
      env: rabbit ? { AMQP_URL: rabbit.url(0) } : {},
      say,
    });
    say(
      `woken by ${rabbit ? "RabbitMQ" : "PostgreSQL"}: ${report.seconds.toFixed(0)} s, ${report.recovered} jobs of the ` +
        `dead worker ran again, the slowest after ${report.slowestRecovery.toFixed(1)} s`,
    );
    return report.faults;
  } finally {
    await postgres.stop();
  }
}
