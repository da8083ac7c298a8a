import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { freePort } from "../database/free-port.ts";

const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

export interface EverythingServer {
  url: string;
  kill(): Promise<void>;
  /** Restarts on the same port. */
  start(): Promise<void>;
}

/** The reference server of the MCP project, as a child process. */
export async function everythingServer(connectionType: "streamable_http" | "sse"): Promise<EverythingServer> {
  const port = await freePort();
  const sse = connectionType === "sse";
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    child = spawn(process.execPath, [program, sse ? "sse" : "streamableHttp"], {
      env: { ...process.env, PORT: String(port) },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const started = Promise.withResolvers<void>();
    let output = "";
    child.stderr?.on("data", (chunk) => {
      output += String(chunk);
      if (/listening on port|running on port/.test(output)) started.resolve();
    });
    child.once("exit", () => started.reject(new Error(`the everything server ended: ${output}`)));
    await started.promise;
  }

  const server: EverythingServer = {
    url: `http://127.0.0.1:${port}${sse ? "/sse" : "/mcp"}`,
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
    start,
  };
  await start();
  return server;
}
