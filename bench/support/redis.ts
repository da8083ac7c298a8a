import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../apps/server/src/engines/database/free-port.ts";

const program = "redis-server";
const isInstalled = (): boolean => spawnSync(program, ["--version"]).status === 0;

/** Installs the Debian package if possible. */
function provide(): boolean {
  if (isInstalled()) return true;
  if (process.getuid?.() === 0) {
    console.log("installing redis-server from the system's packages (once)");
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    spawnSync("apt-get", ["-q", "install", "-y", "--no-install-recommends", program], { env });
  }
  return isInstalled();
}

/** A Redis that writes every change to disk before it answers. Undefined if Redis cannot be installed. */
export async function startRedis(): Promise<{ port: number; pid: number; stop(): Promise<void> } | undefined> {
  if (!provide()) {
    console.log("SKIPPED: BullMQ. redis-server is not installed (Debian and Ubuntu: apt-get install redis-server)");
    return undefined;
  }
  const home = await mkdtemp(join(tmpdir(), "gantry-redis-"));
  const port = await freePort();
  const settings = { bind: "127.0.0.1", port, dir: home, appendonly: "yes", appendfsync: "always", save: "" };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child: ChildProcess = spawn(program, args, { stdio: "ignore" });
  while (!(await answers(port))) await sleep(20);
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
      await rm(home, { recursive: true, force: true });
    },
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}
