import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, inject, test } from "vitest";
import { isFile, provide } from "../../../test/support/system-packages.ts";
import { requireSessions, type Unprepared } from "./external.ts";
import { freePort } from "./free-port.ts";
import { connect, connectExternalDatabase, type Database, type Sql } from "./index.ts";

const refusal =
  /The connection goes through a pooler in transaction or statement mode\. Set the pooler to session mode/;
const opened: Database[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

/** A direct connection to the test server. */
function backend(): Unprepared {
  const database = connect({ url: `${inject("postgresUrl")}/postgres`, poolSize: 1 });
  opened.push(database);
  return database.sql;
}

/** Clients of a pooler in transaction mode, which assigns the first or the last free backend. */
function pooled(backends: Unprepared[], next: "shift" | "pop"): () => Unprepared {
  const free = [...backends];
  return () => {
    let kept: Unprepared | undefined;
    const unsafe = async (text: string): Promise<unknown> => {
      const taken = kept ?? free[next]();
      if (!taken) throw new Error("No backend is free");
      // Only the backend that answers matters here.
      const answer = ["begin", "rollback"].includes(text) ? undefined : await taken.unsafe(text);
      kept = text === "begin" || (kept && text !== "rollback") ? taken : undefined;
      if (!kept) free.push(taken);
      return answer;
    };
    return { unsafe } as unknown as Unprepared;
  };
}

test("two connections with separate backends are accepted", async () => {
  await requireSessions(backend(), backend());
});

test.each([
  ["pop", 1],
  ["pop", 3],
  ["shift", 1],
  ["shift", 2],
  ["shift", 3],
] as const)("a pooler in transaction mode is refused: %s of %i", async (next, count) => {
  const client = pooled(Array.from({ length: count }, backend), next);
  await expect(requireSessions(client(), client())).rejects.toThrow(refusal);
});

test("a pooler in statement mode is refused", async () => {
  const [first, second] = [backend(), backend()];
  const unsafe = (text: string) =>
    text === "begin"
      ? Promise.reject(new Error("transaction blocks not allowed in statement pooling mode"))
      : second.unsafe(text);
  await expect(requireSessions(first, { unsafe } as Unprepared)).rejects.toThrow(refusal);
});

const program = "/usr/sbin/pgbouncer";
const hasPgbouncer = await provide({ name: "PgBouncer", packages: ["pgbouncer"], isThere: () => isFile(program) });

describe.runIf(hasPgbouncer)("behind PgBouncer", () => {
  async function through<T>(mode: string, work: (url: string) => Promise<T>): Promise<T> {
    const server = new URL(inject("postgresUrl"));
    const home = await mkdtemp(join(tmpdir(), "gantry-pooler-"));
    await chmod(home, 0o755);
    const port = await freePort();
    const settings = ["[databases]", `* = host=127.0.0.1 port=${server.port} user=postgres password=test`];
    settings.push("[pgbouncer]", "listen_addr = 127.0.0.1", `listen_port = ${port}`, "unix_socket_dir =");
    settings.push("auth_type = any", `pool_mode = ${mode}`, "server_reset_query =");
    const file = join(home, "pgbouncer.ini");
    await writeFile(file, settings.join("\n"));
    const user = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
    const pooler = spawn(program, [...user, file], { stdio: "ignore" });
    try {
      while (!(await answers(port))) await sleep(20);
      return await work(`postgres://postgres:test@127.0.0.1:${port}/postgres`);
    } finally {
      pooler.kill("SIGKILL");
      await once(pooler, "exit");
      await rm(home, { recursive: true, force: true });
    }
  }

  const answers = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connectSocket(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });

  test.each(["transaction", "statement"])("in %s mode the start is refused", async (mode) => {
    await through(mode, (url) => expect(connectExternalDatabase({ url })).rejects.toThrow(refusal));
  });

  test("in session mode the start works, and a closed session leaves no lock on its backend", async () => {
    await through("session", async (url) => {
      const database = await connectExternalDatabase({ url });
      await database.session((sql) => sql.unsafe("select pg_advisory_lock(7242009)"));
      const locks = (sql: Sql) => sql`select from pg_locks where locktype = 'advisory' and objid = 7242009`;
      expect(await locks(database.sql)).toEqual([]);
      await database.close();
      const next = await connectExternalDatabase({ url });
      expect(await locks(next.sql)).toEqual([]); // The first database prepared this on the same backend.
      await next.close();
    });
  });
});
