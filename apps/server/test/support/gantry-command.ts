import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ofTests = { GANTRY_FIND_MODELS: "0", GANTRY_PROCESSES: "1" };
const cli = fileURLToPath(new URL("../../../../packages/cli/src/main.ts", import.meta.url));

/** The command does not use the stored login of the developer. */
const noLogin = fileURLToPath(new URL("./no-such-folder", import.meta.url));

export interface Ended {
  /** Null when it was killed. */
  code: number | null;
  stdout: string;
  stderr: string;
}

/**
 * The command as an operator runs it, with only these settings. `prefix` is a command that executes its remaining
 * arguments, `input` what the command reads. With null, the caller writes to `child.stdin`.
 */
export function startCommand(
  args: string[],
  env: Record<string, string>,
  prefix: readonly string[] = [],
  input?: string | null,
): { child: ChildProcess; ended: Promise<Ended> } {
  const [file = process.execPath, ...all] = [...prefix, process.execPath, cli, ...args];
  const child = spawn(file, all, {
    env: {
      PATH: process.env.PATH ?? "",
      HOME: process.env.HOME ?? "",
      ...ofTests,
      XDG_CONFIG_HOME: noLogin,
      ...env,
    },
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
  if (input !== null) child.stdin?.end(input);
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
