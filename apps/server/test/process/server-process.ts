import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../src/engines/database/processes.ts";
import { waitFor } from "../support/wait-for.ts";

const mainFile = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

const ofTests = { GANTRY_FIND_MODELS: "0", GANTRY_PROCESSES: "1" };

export const adminKey = "admin-key-of-process-tests-0123456789";

export interface ServerProcess {
  readonly pid: number;
  stdout(): string;
  stderr(): string;
  /** The printed address; rejects when the process ended first. */
  url(withinMs?: number): Promise<string>;
  kill(signal: NodeJS.Signals): void;
  /** As a reader of the output that leaves. */
  closeOutput(): void;
  readonly exit: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
}

/**
 * The server as an operator starts it: a separate process with only the given settings. `prefix` is a command that
 * executes its remaining arguments, `program` the main file of another version.
 */
export function startServer(
  env: Record<string, string>,
  prefix: readonly string[] = [],
  program: string = mainFile,
): ServerProcess {
  const [file = process.execPath, ...args] = [...prefix, process.execPath, program];
  const child: ChildProcess = spawn(file, args, {
    env: { ...ofTests, PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", PORT: "0", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  // "close", not "exit": all output has arrived by then.
  let ended = false;
  const exit = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      ended = true;
      resolve({ code, signal });
    });
  });
  const printed = () => /^Gantry listens on (\S+)$/m.exec(stdout)?.[1];
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout,
    stderr: () => stderr,
    exit,
    kill: (signal) => void child.kill(signal),
    closeOutput() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    async url(withinMs = 60_000) {
      await waitFor("the server to listen", () => ended || printed() !== undefined, withinMs);
      const url = printed();
      if (url === undefined) throw new Error(`the server ended:\n${stdout}${stderr}`);
      return url;
    },
  };
}

/** Ends all processes that still run, including the home's PostgreSQL. */
export async function endEverything(servers: Iterable<ServerProcess>, homes: Iterable<string>): Promise<void> {
  for (const server of servers) {
    server.kill("SIGKILL");
    await server.exit;
  }
  for (const home of homes) {
    const pid = await postmasterOf(home);
    if (pid === undefined) continue;
    process.kill(pid, "SIGINT");
    await waitFor("PostgreSQL to stop", async () => !(await isAlive(pid)), 30_000);
  }
}

/** From the home's postmaster file; undefined when PostgreSQL does not run. */
export async function postmasterOf(home: string): Promise<number | undefined> {
  const text = await readFile(join(home, "postgres", "postmaster.pid"), "utf8").catch(() => "");
  const pid = Number(text.split("\n", 1)[0]);
  return pid > 0 && (await isAlive(pid)) ? pid : undefined;
}

/** Resident memory in bytes. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads what came over the wire and states what it must be
export const bodyOf = (response: Response): Promise<any> => response.json();
