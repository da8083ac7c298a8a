import { runMoneyStorm } from "../../apps/server/test/proof/money-storm.ts";
import { startOwnPostgres } from "../../apps/server/test/support/own-postgres.ts";

/** Many rounds of 500 parallel paid calls with kills, on a PostgreSQL that writes to disk. */
export async function moneySoak(seed: number, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  try {
    const report = await runMoneyStorm({
      databaseUrl: postgres.url,
      seed,
      calls: 500,
      rounds: 6,
      killsARound: 3,
      say,
    });
    say(`${report.kills} kills, ${report.seconds.toFixed(0)} s, answers to clients: ${JSON.stringify(report.told)}`);
    say(`the hostile marketplace: ${JSON.stringify(report.market)}`);
    return report.faults;
  } finally {
    await postgres.stop();
  }
}
