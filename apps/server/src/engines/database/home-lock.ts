import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { identify, isStill, type ProcessIdentity, pidNamespace } from "./processes.ts";

interface Owner extends ProcessIdentity {
  pidNamespace: string;
}

export interface HomeLock {
  /**
   * Names a process that works on the home for its owner. The next owner ends it first, if it has survived this one.
   * The returned function forgets it.
   */
  addHelper(pid: number): Promise<() => Promise<void>>;
  release(): Promise<void>;
}

const heartbeatMs = 5000;
/** The process of an owner in another container is not visible. Without a heartbeat for this long the owner is dead. */
const silentMs = 3 * heartbeatMs;

/**
 * Makes this process the only owner of a home, or throws. Survives kill -9: the process named in the lock must be alive.
 *
 * The lock is the file `owner.N` with the highest N. If its process is dead, a contender links `owner.N+1`, which succeeds
 * only once, and then checks that its number is still the highest. Numbers only grow: an owner removes lower files, and
 * empties its own on release.
 */
export async function lockHome(home: string): Promise<HomeLock> {
  const dir = join(home, "lock");
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const self = await identify(process.pid);
  if (!self) throw new Error("This process cannot be identified");
  const me: Owner = { ...self, pidNamespace: await pidNamespace() };
  const draft = join(dir, `draft-${process.pid}-${performance.now()}`);
  try {
    await writeFile(draft, JSON.stringify(me), { mode: 0o600 });
    for (;;) {
      const highest = await highestNumber(dir);
      if (highest > 0) await refuseIfOwned(home, join(dir, `owner.${highest}`), me);
      const mine = join(dir, `owner.${highest + 1}`);
      if (!(await linkExclusively(draft, mine))) continue;
      if ((await highestNumber(dir)) === highest + 1) {
        await endHelpers(dir, me);
        return await hold(dir, mine, highest + 1, me);
      }
      await rm(mine, { force: true });
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function highestNumber(dir: string): Promise<number> {
  const numbers = (await readdir(dir)).map((name) => Number(/^owner\.(\d+)$/.exec(name)?.[1] ?? 0));
  return Math.max(0, ...numbers);
}

async function linkExclusively(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function refuseIfOwned(home: string, file: string, me: Owner): Promise<void> {
  const text = await readFile(file, "utf8").catch(() => "");
  if (text === "") return; // Released, or removed by an owner with a higher number.
  const owner = JSON.parse(text) as Owner;
  const refusal = new Error(
    `Another Gantry is running on ${home} (process ${owner.pid}). Stop it first, or set GANTRY_HOME to another folder.`,
  );
  if (owner.pidNamespace === me.pidNamespace) {
    if (await isStill(owner)) throw refusal;
    return;
  }
  const touchedAt = () =>
    stat(file).then(
      (found) => found.mtimeMs,
      () => 0,
    );
  const before = await touchedAt();
  for (let waited = 0; waited <= silentMs; waited += 500) {
    if (Date.now() - (await touchedAt()) > silentMs) return;
    await sleep(500);
  }
  // The clock may have been set back, so the time alone is not enough.
  if ((await touchedAt()) !== before) throw refusal;
}

const helperName = /^helper\.\d+$/;

/** Helpers end by themselves when their owner is killed, unless they are stopped or busy. */
async function endHelpers(dir: string, me: Owner): Promise<void> {
  for (const name of (await readdir(dir)).filter((one) => helperName.test(one))) {
    const text = await readFile(join(dir, name), "utf8").catch(() => "");
    const helper = text === "" ? undefined : (JSON.parse(text) as Owner);
    // In another container the helper ended with its owner.
    while (helper?.pidNamespace === me.pidNamespace && (await isStill(helper))) {
      process.kill(helper.pid, "SIGKILL");
      await sleep(20);
    }
    await rm(join(dir, name), { force: true });
  }
}

async function hold(dir: string, mine: string, number: number, me: Owner): Promise<HomeLock> {
  await utimes(mine, new Date(), new Date());
  for (const name of await readdir(dir)) {
    const other = Number(/^owner\.(\d+)$/.exec(name)?.[1] ?? 0);
    if (other > 0 && other < number) await rm(join(dir, name), { force: true });
  }
  const heartbeat = setInterval(() => void utimes(mine, new Date(), new Date()).catch(() => undefined), heartbeatMs);
  heartbeat.unref();
  return {
    async addHelper(pid) {
      const helper = await identify(pid);
      const file = join(dir, `helper.${pid}`);
      if (helper) {
        const draft = join(dir, `draft-${pid}-${performance.now()}`);
        try {
          await writeFile(draft, JSON.stringify({ ...helper, pidNamespace: me.pidNamespace }), { mode: 0o600 });
          await rename(draft, file);
        } catch (error) {
          await rm(draft, { force: true });
          throw error;
        }
      }
      return () => rm(file, { force: true });
    },
    async release() {
      clearInterval(heartbeat);
      await writeFile(mine, "");
    },
  };
}
