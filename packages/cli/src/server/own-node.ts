import { spawn } from "node:child_process";
import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { Failure } from "../frame/failure.ts";
import { cacheFolder } from "./cache-folder.ts";

const oldestNode = 24;
const parentCheckMs = 500;

/** For glibc, which otherwise keeps freed memory. */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "262144", MALLOC_TRIM_THRESHOLD_: "262144" };

/** Runs this command again with the Node of the server's package. Returns if this process is to go on itself. */
export async function continueWithOwnNode(serverEntry: string): Promise<void> {
  stopWithNpx(process.env);
  const own = nodeBeside(serverEntry);
  if (own !== undefined && realpathSync(own) === realpathSync(process.execPath)) return;
  const code = own === undefined ? undefined : await runAgain(own);
  if (code !== undefined) process.exit(code);
  if (Number(process.versions.node.split(".", 1)[0]) >= oldestNode) return;
  throw new Failure(
    `The Gantry server needs Node ${oldestNode} or later. This is ${process.version}, and npm has no Node for this ` +
      `system (${process.platform}-${process.arch}). Install Node ${oldestNode} and try again.`,
  );
}

/** npx passes a signal only to the shell between itself and the command. That shell ends, and the server would stay. */
function stopWithNpx({ npm_command: npmCommand }: NodeJS.ProcessEnv): void {
  if (npmCommand !== "exec") return;
  const shell = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(check);
    process.kill(process.pid, "SIGTERM");
  }, parentCheckMs).unref();
}

function nodeBeside(serverEntry: string): string | undefined {
  try {
    const manifest = createRequire(serverEntry).resolve(`node-${process.platform}-${process.arch}/package.json`);
    const node = join(dirname(manifest), "bin", "node");
    return existsSync(node) ? node : undefined;
  } catch {
    return undefined;
  }
}

/** Passes signals on and resolves with the exit code. Undefined if the program does not run here, as glibc's on Alpine. */
function runAgain(node: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const child = spawn(node, process.argv.slice(1), {
      stdio: "inherit",
      env: {
        // Modules that load before the server can enable its cache are cached as well.
        NODE_COMPILE_CACHE: join(cacheFolder(process.env), "compiled"),
        ...allocator,
        ...process.env,
      },
    });
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.once("error", () => resolve(undefined));
    child.once("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
  });
}
