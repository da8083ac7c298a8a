import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type Random } from "../../apps/server/test/proof/random.ts";
import type { Stage } from "./stage.ts";
import { approve, followRun, readThreads, runAgent, trigger } from "./traffic-agents.ts";
import { changeDrive, searchDrive, upload } from "./traffic-files.ts";
import { look, misbehave, useKey } from "./traffic-others.ts";
import { buy, chat, enqueue, paint, readSlowly } from "./traffic-predictions.ts";

type Operation = (stage: Stage, random: Random, mark: string) => Promise<void>;

/** Operations and their shares. */
const traffic: readonly (readonly [share: number, Operation])[] = [
  [30, buy],
  [10, chat],
  [4, readSlowly],
  [1, paint],
  [8, enqueue],
  [8, runAgent],
  [4, followRun],
  [3, approve],
  [3, trigger],
  [2, readThreads],
  [5, upload],
  [6, changeDrive],
  [4, searchDrive],
  [14, look],
  [2, useKey],
  [6, misbehave],
];

/** Operations a second. */
export const rate = 8;
/** More at once would be a flood: arrivals wait while the installation is down. */
const mostAtOnce = 64;

const whole = traffic.reduce((sum, [share]) => sum + share, 0);
const shareOfBuyers = (traffic.find(([, operation]) => operation === buy)?.[0] ?? 0) / whole;

/** Expected calls of each of `buyers` users in this time. */
export const callsOfBuyer = (seconds: number, buyers: number): number =>
  Math.ceil((seconds * rate * shareOfBuyers) / buyers);

function pick(random: Random): Operation {
  let rest = random.next() * whole;
  for (const [share, operation] of traffic) {
    rest -= share;
    if (rest < 0) return operation;
  }
  return look;
}

export interface Load {
  readonly started: number;
  readonly open: number;
  /** Ends the arrivals and waits for the open operations. */
  stop(): Promise<void>;
}

/** The n-th operation and its content depend only on the seed; arrivals are random in time (Poisson). */
export function startLoad(stage: Stage, seed: number): Load {
  const arrivals = createRandom(seed);
  const open = new Set<Promise<void>>();
  let started = 0;
  let isOver = false;

  const arriving = (async () => {
    for (let due = Date.now(); !isOver; ) {
      due += (-Math.log(1 - arrivals.next()) / rate) * 1000;
      // After a pause the missed arrivals are left out.
      due = Math.max(due, Date.now() - 1000);
      const operation = pick(arrivals);
      const random = createRandom(arrivals.between(1, 2 ** 31 - 1));
      await sleep(Math.max(0, due - Date.now()));
      while (open.size >= mostAtOnce && !isOver) await sleep(20);
      const mark = `n${++started}`;
      const work: Promise<void> = operation(stage, random, mark)
        .catch((error: Error) => stage.journal.fault(`the soak itself: ${operation.name}`, String(error.stack)))
        .finally(() => open.delete(work));
      open.add(work);
    }
  })();

  return {
    get started() {
      return started;
    },
    get open() {
      return open.size;
    },
    async stop() {
      isOver = true;
      await arriving;
      await Promise.all(open);
    },
  };
}
