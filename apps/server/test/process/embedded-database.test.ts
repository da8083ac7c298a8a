import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  type EmbeddedDatabase,
  type EmbeddedOptions,
  startEmbeddedDatabase,
} from "../../src/engines/database/index.ts";
import { isAlive, pidNamespace } from "../../src/engines/database/processes.ts";

const unavailable = { name: "Fault", type: "service_unavailable" };
const asRoot = process.getuid?.() === 0;

let home: string;
/** A home that was started once; a copy is faster than a new database. */
let furnishedHome: string;
const running = new Set<EmbeddedDatabase>();
const children = new Set<ChildProcess>();

async function start(options: Partial<EmbeddedOptions> = {}): Promise<EmbeddedDatabase> {
  const database = await startEmbeddedDatabase({ home, ...options });
  running.add(database);
  return database;
}

async function stop(database: EmbeddedDatabase): Promise<void> {
  running.delete(database);
  await database.close();
}

const postmasterPid = async (): Promise<number> =>
  Number((await readFile(join(home, "postgres", "postmaster.pid"), "utf8")).split("\n")[0]);

/** A separate process that owns the home and reports the outcome; it runs until killed. */
function spawnOwner(): { child: ChildProcess; said: Promise<string> } {
  const script = `
    import { startEmbeddedDatabase } from ${JSON.stringify(new URL("../../src/engines/database/index.ts", import.meta.url).href)};
    try {
      const database = await startEmbeddedDatabase({ home: ${JSON.stringify(home)} });
      await database.sql\`create table if not exists kept (id int primary key)\`;
      await database.sql\`insert into kept values (1) on conflict do nothing\`;
      process.stdout.write("owner " + database.pid + "\\n");
      setInterval(() => {}, 1000);
    } catch (error) {
      process.stdout.write("refused " + error.message + "\\n");
      process.exit(1);
    }`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.add(child);
  return { child, said: once(child.stdout as NodeJS.ReadableStream, "data").then(([chunk]) => String(chunk).trim()) };
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

beforeAll(async () => {
  furnishedHome = await mkdtemp(join(tmpdir(), "gantry-furnished-"));
  await (await startEmbeddedDatabase({ home: furnishedHome })).close();
});

afterAll(async () => {
  await rm(furnishedHome, { recursive: true, force: true });
});

const furnish = (): Promise<void> => cp(furnishedHome, home, { recursive: true });

beforeEach(async () => {
  home = join(await mkdtemp(join(tmpdir(), "gantry-embedded-")), "home");
});

afterEach(async () => {
  for (const database of [...running]) await stop(database);
  for (const child of children) await kill(child);
  children.clear();
  const left = await postmasterPid().catch(() => 0);
  if (left > 0 && (await isAlive(left))) process.kill(left, "SIGQUIT");
  while (left > 0 && (await isAlive(left))) await sleep(20);
  await rm(dirname(home), { recursive: true, force: true });
});

describe("starting", () => {
  test("works in a home of mode 700, keeps its password private, and works a second time", async () => {
    const progress: string[] = [];
    const first = await start({ onProgress: (text) => progress.push(text) });
    expect(progress).toEqual([expect.stringContaining("Creating the database"), "Starting PostgreSQL"]);
    expect((await stat(home)).mode & 0o777).toBe(0o700);
    expect((await stat(join(home, "postgres.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(join(home, "postgres"))).mode & 0o777).toBe(0o700);
    const [settings] = await first.sql`
      select current_setting('data_checksums') as checksums, current_setting('fsync') as fsync,
             current_setting('synchronous_commit') as commit, current_setting('server_encoding') as encoding,
             current_setting('is_superuser') as superuser`;
    expect(settings).toEqual({ checksums: "on", fsync: "on", commit: "on", encoding: "UTF8", superuser: "off" });
    await first.sql`create table kept (id int)`;
    const { pid } = first;
    await stop(first);
    expect(await isAlive(pid)).toBe(false);

    const second = await start();
    expect(await second.sql`select count(*) from kept`).toEqual([{ count: 0 }]);
  });

  test("starts over when the first start was interrupted", async () => {
    await mkdir(join(home, "postgres.new"), { recursive: true });
    await writeFile(join(home, "postgres.new", "PG_VERSION"), "18\n");
    await writeFile(
      join(home, "postgres.json"),
      JSON.stringify({ password: "p".repeat(64), dataDir: join(home, "postgres") }),
    );
    expect(await (await start()).ready()).toBe(true);
  });

  test("names the version of the data when it differs", async () => {
    await stop(await start());
    await writeFile(join(home, "postgres", "PG_VERSION"), "17\n");
    await expect(start()).rejects.toThrow(
      /belongs to PostgreSQL 17, but this Gantry runs PostgreSQL 18\. Run `gantry backup` with/,
    );
    await writeFile(join(home, "postgres", "PG_VERSION"), "18\n");
    expect(await (await start()).ready()).toBe(true);
  });

  test.runIf(asRoot)("keeps the data when PostgreSQL must run under another account", async () => {
    const first = await start({ account: "namespace" });
    await first.sql`create table kept (id int)`;
    await stop(first);
    for (const [account, uid] of [
      ["capability", 65534],
      ["namespace", 0],
    ] as const) {
      const next = await start({ account });
      expect((await stat(join(home, "postgres"))).uid).toBe(uid);
      expect(await next.sql`select count(*) from kept`).toEqual([{ count: 0 }]);
      await stop(next);
    }
  });

  test.runIf(asRoot)(
    "as the user nobody the data goes to a private folder, is found again, and never created twice",
    async () => {
      const progress: string[] = [];
      const database = await start({ account: "nobody", onProgress: (text) => progress.push(text) });
      const dir = /with its data in (\/\S+)/.exec(progress[0] ?? "")?.[1];
      // An empty path would make the clean-up below delete the parent of the checkout.
      if (dir === undefined) throw new Error(`no folder in: ${progress[0]}`);
      try {
        expect(dir.startsWith(home)).toBe(false); // other users cannot enter the temporary directory around the home
        expect((await stat(join(dir, "postgres"))).uid).toBe(65534);
        await database.sql`create table kept (id int)`;
        await stop(database);
        await expect(start()).rejects.toThrow(`The data of ${home} is in ${dir}`);
        const again = await start({ account: "nobody" });
        expect(await again.sql`select count(*) from kept`).toEqual([{ count: 0 }]);
        await stop(again);
      } finally {
        await rm(dirname(dir), { recursive: true, force: true });
      }
    },
  );
});

describe("ownership", () => {
  beforeEach(furnish);

  test("a second owner is refused with the process to stop, in this process and in another", async () => {
    await start();
    await expect(start()).rejects.toThrow(`Another Gantry is running on ${home} (process ${process.pid})`);
    expect(await spawnOwner().said).toContain(`refused Another Gantry is running on ${home} (process ${process.pid})`);
    expect(await [...running][0]?.ready()).toBe(true);
  });

  test("of several simultaneous starts one wins, also over a dead owner's lock", async () => {
    for (let round = 0; round < 2; round++) {
      const contenders = [spawnOwner(), spawnOwner(), spawnOwner()];
      const outcomes = await Promise.all(contenders.map(({ said }) => said));
      expect(outcomes.filter((said) => said.startsWith("owner"))).toHaveLength(1);
      expect(outcomes.filter((said) => said.startsWith("refused Another Gantry"))).toHaveLength(2);
      for (const { child } of contenders) await kill(child);
    }
  });

  test("a process that reuses the dead owner's pid does not count as the owner", async () => {
    await mkdir(join(home, "lock"), { recursive: true });
    await writeFile(
      join(home, "lock", "owner.7"),
      JSON.stringify({ pid: process.pid, startedAt: "long ago", pidNamespace: await pidNamespace() }),
    );
    expect(await (await start()).ready()).toBe(true);
  });
});

describe("after a killed process", () => {
  beforeEach(furnish);

  test("its PostgreSQL keeps running and is adopted with its data", async () => {
    const { child, said } = spawnOwner();
    const pid = Number((await said).split(" ")[1]);
    await kill(child);
    expect(await isAlive(pid)).toBe(true);
    const progress: string[] = [];
    const database = await start({ onProgress: (text) => progress.push(text) });
    expect(progress).toEqual([expect.stringContaining(`(process ${pid})`)]);
    expect(database.pid).toBe(pid);
    expect(await database.sql`select id from kept`).toEqual([{ id: 1 }]);
    process.kill(pid, "SIGKILL"); // not our child, but watched
    await expect.poll(() => database.pid).not.toBe(pid);
    expect(await database.ready()).toBe(true);
    await stop(database);
    expect(await isAlive(database.pid)).toBe(false);
  });

  test("a PostgreSQL killed with it is recovered, also when another process has its pid", async () => {
    const { child, said } = spawnOwner();
    const pid = Number((await said).split(" ")[1]);
    process.kill(pid, "SIGKILL");
    await kill(child);
    const file = join(home, "postgres", "postmaster.pid");
    await writeFile(file, (await readFile(file, "utf8")).replace(/^\d+/, String(process.pid)));
    const database = await start();
    expect(await database.sql`select id from kept`).toEqual([{ id: 1 }]);
  });
});

describe("a failing PostgreSQL", () => {
  beforeEach(furnish);

  test("that dies is restarted; queries fail meanwhile, and no committed row is lost", async () => {
    const trouble: string[] = [];
    const database = await start({ onTrouble: (text) => trouble.push(text), deadlineMs: 3000 });
    await database.sql`create table entry (id int8 primary key)`;
    const heard: string[] = [];
    await database.listen("news", (payload) => heard.push(payload));
    let [id, refused] = [0, 0];
    const committed: number[] = [];
    let writing = true;
    const writer = async (): Promise<void> => {
      while (writing) {
        const mine = ++id;
        try {
          await database.transaction((tx) => tx`insert into entry values (${mine})`);
          committed.push(mine);
        } catch (error) {
          expect(error).toMatchObject(unavailable);
          refused++;
        }
      }
    };
    const writers = Array.from({ length: 8 }, writer);
    for (let round = 0; round < 2; round++) {
      await sleep(200);
      const { pid } = database;
      process.kill(pid, "SIGKILL");
      await expect.poll(() => database.pid).not.toBe(pid);
      await expect.poll(() => database.ready()).toBe(true);
    }
    writing = false;
    await Promise.all(writers);
    expect(refused).toBeGreaterThan(0);
    const stored = new Set((await database.sql`select id from entry`).map((row) => row.id));
    expect(committed.filter((each) => !stored.has(each))).toEqual([]);
    expect(trouble.filter((text) => text.includes("has died"))).toHaveLength(2);
    await expect
      .poll(async () => {
        await database.sql.notify("news", "x");
        return heard.length;
      })
      .toBeGreaterThan(0);
  });

  test("that stalls makes queries fail in time, and serves again when it resumes", async () => {
    const database = await start({ deadlineMs: 800, poolSize: 2 });
    const backends = await Promise.all(
      [1, 2].map(() => database.transaction((tx) => tx`select pg_backend_pid() as pid, pg_sleep(0.05)`)),
    );
    const stopped = [database.pid, ...backends.map(([row]) => row?.pid as number)];
    for (const pid of stopped) process.kill(pid, "SIGSTOP");
    try {
      for (let round = 0; round < 3; round++) {
        const before = performance.now();
        const outcomes = await Promise.allSettled([
          database.sql`select 1`,
          database.transaction((tx) => tx`select 1`),
          database.sql`select 2`,
        ]);
        for (const each of outcomes) expect(each).toMatchObject({ status: "rejected", reason: unavailable });
        expect(performance.now() - before).toBeLessThan(15_000);
      }
    } finally {
      for (const pid of stopped) process.kill(pid, "SIGCONT");
    }
    await expect.poll(() => database.ready()).toBe(true);
    expect(await database.sql`select 1 as one`).toEqual([{ one: 1 }]);
  });
});
