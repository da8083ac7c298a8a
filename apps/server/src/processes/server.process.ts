/** One of several server processes. Its supervisor sends it connections and the address of the embedded PostgreSQL. */
import type { Socket } from "node:net";
import type { Gantry, SharedHome } from "../compose/gantry.ts";
import { type Config, readConfig } from "../config/config.ts";
import { baseFolder } from "../config/own-folder.ts";
import { connectOwn, type OwnDatabase } from "../engines/database/index.ts";
import { createFrontListener, type FrontListener } from "../http/foundation/front-listener.ts";
import { listenerDialects } from "../http/listener-dialects.ts";
import { fault } from "../kernel/errors.ts";
import { createLog, type Log } from "../kernel/log.ts";
import { type FromServer, type StartMessage, shareOf, type ToServer } from "./protocol.ts";
import { endOnBugs, type RunningServer, runServer, startLines } from "./run-server.ts";

/** Longer than the supervisor waits for the slowest process, shorter than the timeout of a scrape. */
const metricsWithinMs = 5_000;

function tell(message: FromServer): void {
  process.send?.(message, undefined, undefined, () => {
    // The supervisor is gone, and this process ends with it.
  });
}

// Without its supervisor, a process that stayed would work beside the next server of the same home.
process.on("disconnect", () => process.exit(1));
// A terminal sends these to all processes. The supervisor decides, and says so.
process.on("SIGINT", () => undefined);
process.on("SIGHUP", () => undefined);

let connections: FrontListener | undefined;
let database: OwnDatabase | undefined;
let databasePort = 0;
let server: RunningServer | undefined;
let gantry: Gantry | undefined;
let log: Log | undefined;

const metricsAwaited = new Map<number, (text: string) => void>();
let lastQuestion = 0;

function askMetrics(): Promise<string> {
  const id = ++lastQuestion;
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => {
      metricsAwaited.delete(id);
      reject(fault("service_unavailable", "The metrics of the other processes did not arrive in time"));
    }, metricsWithinMs);
    metricsAwaited.set(id, (text) => {
      clearTimeout(late);
      metricsAwaited.delete(id);
      resolve(text);
    });
    tell({ kind: "metrics", id });
  });
}

function shareOfConfig(config: Config, { number, of }: StartMessage): Config {
  return {
    ...config,
    GANTRY_WORKER_PARALLEL: shareOf(config.GANTRY_WORKER_PARALLEL, number, of),
    GANTRY_RUN_PARALLEL: shareOf(config.GANTRY_RUN_PARALLEL, number, of),
  };
}

function start(message: StartMessage): void {
  const { number, port, databaseUrl, isFirst, gone } = message;
  const whole = readConfig(process.env, baseFolder);
  const config = shareOfConfig(whole, message);
  const ownLog = createLog(config.GANTRY_LOG_LEVEL, undefined, { process: number });
  log = ownLog;
  endOnBugs(ownLog);
  if (databaseUrl !== undefined) {
    databasePort = Number(new URL(databaseUrl).port);
    const onTrouble = (text: string) => ownLog.warn(text);
    database = connectOwn({ url: databaseUrl, port: () => databasePort, onTrouble });
  }
  const frontListener = createFrontListener(config.GANTRY_PUBLIC_URL, listenerDialects);
  connections = frontListener;
  const shared: SharedHome = { config: whole, database, isFirst, gone, metrics: askMetrics };
  const onReady = (ready: Gantry) => {
    gantry = ready;
    tell({ kind: "ready", nodeId: ready.nodeId, lines: startLines(ready, config, port, message.isTerminal) });
  };
  const running = runServer({ config, log: ownLog, frontListener, shared, onReady });
  server = running;
  process.on("SIGTERM", () => stop("SIGTERM"));
}

function stop(signal: string): void {
  tell({ kind: "stopping" });
  if (server) server.stop(signal);
  else process.exit(0);
}

function takeConnection(id: number, socket: Socket | undefined): void {
  tell({ kind: "taken", id });
  if (!socket) return;
  if (connections) connections.take(socket);
  else socket.destroy();
}

async function forget(nodeId: string): Promise<void> {
  // Its heartbeat shows the same, some seconds later.
  await gantry
    ?.forgetNodes([nodeId])
    .catch((error) => log?.warn({ err: error }, "A dead process was not taken over yet"));
}

async function report(id: number): Promise<void> {
  const text = await gantry?.metrics().catch(() => undefined);
  if (text !== undefined) tell({ kind: "report", id, text });
}

process.on("message", (message: ToServer, socket: Socket | undefined) => {
  if (message.kind === "connection") takeConnection(message.id, socket);
  else if (message.kind === "start") start(message);
  else if (message.kind === "database") databasePort = message.port;
  else if (message.kind === "disk full") database?.markFull();
  else if (message.kind === "gone") void forget(message.nodeId);
  else if (message.kind === "report") void report(message.id);
  else if (message.kind === "metrics") metricsAwaited.get(message.id)?.(message.text);
  else stop(message.signal);
});
