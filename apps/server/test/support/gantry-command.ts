import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const cli = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

export interface Ended {
  /** Null when it was killed. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * The command as an operator runs it, with only these settings. `prefix` is a command that executes its remaining
 * arguments, `input` what the command reads.
 */
export function startCommand(
  args: string[],
  env: Record<string, string>,
  prefix: readonly string[] = [],
  input?: string,
): { child: ChildProcess; ended: Promise<Ended> } {
  const [file = process.execPath, ...all] = [...prefix, process.execPath, cli, ...args];
  const child = spawn(file, all, {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", GANTRY_FIND_MODELS: "0", ...env },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  child.stdin?.end(input);
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on("data", (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
  return { child, ended };
}

export const gantryCommand = (
  args: string[],
  env: Record<string, string>,
  prefix: readonly string[] = [],
  input?: string,
): Promise<Ended> => startCommand(args, env, prefix, input).ended;
