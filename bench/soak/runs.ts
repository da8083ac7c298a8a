import { ownSchema } from "../../apps/server/src/compose/own-schema.ts";
import { connect, migrate } from "../../apps/server/src/engines/database/index.ts";
import type { Breakpoint } from "../../apps/server/test/proof/runs-breakpoints.ts";
import { nameOf, startWalk, walkAll } from "../../apps/server/test/proof/runs-crash-points.ts";
import { startOwnPostgres } from "../../apps/server/test/support/own-postgres.ts";

const atOnce = 8;

/** Before creation there is nothing for another server to finish. */
const isAfterCreation = ({ kind, k }: Breakpoint) => k > 1 || kind === "claim" || kind === "write";

/** Kills the server of a run before and after every write. Then pauses it at every write until another ends the run. */
export async function runsSoak(_seed: number, say: (line: string) => void): Promise<string[]> {
  const postgres = await startOwnPostgres();
  try {
    const database = connect({ url: postgres.url, poolSize: 1 });
    await migrate(database, ownSchema).finally(() => database.close());
    const server = postgres.url.slice(0, postgres.url.lastIndexOf("/"));
    const walk = await startWalk(server, postgres.url.slice(server.length + 1));
    try {
      const { breakpoints } = walk;
      say(`${breakpoints.length} points at which a run is killed, before and after each write`);
      const reports = await walkAll(walk.kill, breakpoints, atOnce, ({ at, faults }) => {
        for (const fault of faults) say(`${nameOf(at)}: ${fault}`);
      });
      const times = reports.flatMap(({ takenOverMs }) => takenOverMs ?? []).sort((a, b) => a - b);
      const at = (part: number) => ((times[Math.floor(part * (times.length - 1))] ?? 0) / 1000).toFixed(1);
      say(`${times.length} runs were taken over after ${at(0)} to ${at(1)} s, half of them within ${at(0.5)} s`);
      const slept = await walkAll(walk.sleep, breakpoints.filter(isAfterCreation), atOnce, ({ at: point, faults }) => {
        for (const fault of faults) say(`asleep ${nameOf(point)}: ${fault}`);
      });
      say(`${slept.length} servers slept past their death and woke up late`);
      return [...reports, ...slept].flatMap(({ at: point, faults }) =>
        faults.map((fault) => `${nameOf(point)}: ${fault}`),
      );
    } finally {
      await walk.close();
    }
  } finally {
    await postgres.stop();
  }
}
