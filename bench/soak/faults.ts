import { setTimeout as sleep } from "node:timers/promises";
import { createRandom, type Random } from "../../apps/server/test/proof/random.ts";
import type { Stage } from "./stage.ts";
import { childrenOf } from "./watch.ts";

type Inject = (stage: Stage, random: Random) => Promise<void>;

/** Faults that end processes: memory can be judged only after the last of them. */
const restarts = {
  async "kill -9 of the server"({ installation }) {
    await installation.end("SIGKILL");
    await installation.start();
  },
  async "SIGTERM and restart"({ installation, journal }) {
    const { code, signal } = await installation.end("SIGTERM");
    if (code !== 0) journal.fault("SIGTERM", `the server ended with ${code ?? signal} instead of 0`);
    await installation.start();
  },
  async "kill -9 of the server and PostgreSQL"({ installation }) {
    const postmaster = await installation.postmaster();
    await installation.end("SIGKILL");
    if (postmaster !== undefined) process.kill(postmaster, "SIGKILL");
    await installation.start();
  },
  async "kill -9 of PostgreSQL"({ installation }) {
    const postmaster = await installation.postmaster();
    if (postmaster !== undefined) process.kill(postmaster, "SIGKILL");
    await sleep(500);
    await installation.untilReady();
  },
  /** Server processes and helpers, if the server has any. */
  async "kill -9 of a child process"({ installation }, random) {
    const children = childrenOf(installation.pid ?? 0).filter(({ name }) => name !== "postgres");
    const [first, ...rest] = children;
    if (first) process.kill(random.pick([first, ...rest]).pid, "SIGKILL");
    await installation.untilReady();
  },
} satisfies Record<string, Inject>;
/** Leases of a dead node end after ten seconds. A new process is slow until its code is compiled. */
const afterRestart = { failMs: 15_000, slowMs: 30_000 };

const others = {
  async "database connections terminated"({ installation: { database } }, random) {
    const most = random.between(1, 20);
    await database.sql`
      select pg_terminate_backend(pid) from (
        select pid from pg_stat_activity
        where usename = 'gantry' and pid <> pg_backend_pid() and application_name <> 'soak' order by random() limit ${most}
      ) as chosen`;
  },
  async "PostgreSQL stalls"({ installation }, random) {
    const postmaster = await installation.postmaster();
    if (postmaster === undefined) return;
    process.kill(postmaster, "SIGSTOP");
    await sleep(random.between(1000, 4000));
    process.kill(postmaster, "SIGCONT");
  },
  "models refuse connections": ({ gates }, random) => close(gates.models, "refuse", random),
  "models hang": ({ gates }, random) => close(gates.models, "hang", random),
  "models send garbage": ({ gates }, random) => close(gates.models, "garbage", random),
  "the model of agents is down": ({ gates }, random) =>
    close(gates.agents, random.pick(["refuse", "hang", "garbage"]), random),
  "the receiver is down": ({ gates }, random) => close(gates.receiver, random.pick(["refuse", "hang"]), random),
} satisfies Record<string, Inject>;
const afterOthers = { failMs: 5_000, slowMs: 5_000 };

async function close(gate: Stage["gates"]["models"], mode: "refuse" | "hang" | "garbage", random: Random) {
  gate.mode = mode;
  await sleep(random.between(3_000, 10_000));
  gate.mode = "open";
}

const all: Record<string, Inject> = { ...restarts, ...others };
export const faultKinds = Object.keys(all);

export interface PlannedFault {
  atSeconds: number;
  kind: string;
}

/** Restarts come in this part of the time, so that one process lives through the rest. */
const partWithRestarts = 0.4;
/** No faults at the end: the last windows measure latency. */
const partWithFaults = 0.85;
const warmUpSeconds = 30;

/** Every kind at least once if there is time, in random order, at random distances; the same for the same seed. */
export function planFaults(seconds: number, seed: number): PlannedFault[] {
  const random = createRandom(seed ^ 0x5eed);
  const plan: PlannedFault[] = [];
  const fill = (kinds: string[], from: number, to: number, usualGap: number) => {
    const gap = Math.min(usualGap, (to - from) / kinds.length);
    let left: string[] = [];
    for (let at = from + gap / 2; at < to; at += gap * (0.75 + random.next() / 2)) {
      if (left.length === 0) left = [...kinds];
      const [kind = ""] = left.splice(random.between(0, left.length - 1), 1);
      plan.push({ atSeconds: Math.round(at), kind });
    }
  };
  const middle = seconds * partWithRestarts;
  fill(Object.keys(restarts), Math.min(warmUpSeconds, middle / 4), middle, 150);
  fill(Object.keys(others), middle / 2, seconds * partWithFaults, 120);
  return plan.sort((one, other) => one.atSeconds - other.atSeconds);
}

const startsServer = new Set(["kill -9 of the server", "SIGTERM and restart", "kill -9 of the server and PostgreSQL"]);

/** Retention deletes rows two minutes after this. */
export const lastRestart = (plan: readonly PlannedFault[]): number =>
  Math.max(0, ...plan.filter(({ kind }) => startsServer.has(kind)).map((one) => one.atSeconds));

/** Injects the planned faults one after the other. */
export async function injectFaults(
  stage: Stage,
  plan: readonly PlannedFault[],
  seed: number,
  say: (line: string) => void,
  isOver: () => boolean,
): Promise<void> {
  const { journal } = stage;
  const random = createRandom(seed ^ 0xfa17);
  for (const { atSeconds, kind } of plan) {
    const own = createRandom(random.between(1, 2 ** 31 - 1));
    const due = journal.startedAt + atSeconds * 1000;
    while (Date.now() < due && !isOver()) await sleep(Math.min(200, Math.max(1, due - Date.now())));
    if (isOver()) return;
    const from = Date.now();
    await journal.disturb(kind, kind in restarts ? afterRestart : afterOthers, async () => {
      await all[kind]?.(stage, own);
      await stage.installation.untilReady();
    });
    say(`${kind}: ready after ${((Date.now() - from) / 1000).toFixed(1)} s`);
  }
}
