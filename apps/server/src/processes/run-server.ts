import { enableCompileCache, flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import type { Gantry, SharedHome } from "../compose/gantry.ts";
import { waitedFor } from "../compose/stopping.rules.ts";
import type { Config } from "../config/config.ts";
import { addressToCall, listeningAddress } from "../config/own-address.rules.ts";
import { commandName, compileCacheFolder, isPackaged } from "../config/own-folder.ts";
import type { FrontListener } from "../http/foundation/front-listener.ts";
import { describeError } from "../kernel/describe-error.ts";
import type { Log } from "../kernel/log.ts";

// Without this flag V8 allocates objects in the old generation once a few of their kind survived two collections, as
// requests that wait for the database do. Dead old objects then keep the rest of each request alive (decision 0014).
setFlagsFromString("--no-allocation-site-pretenuring");

/** Time for the last bytes of responses after the drain. */
const lastBytesMs = 2_000;
/** How often a slow stop logs what it waits for. */
const reportStopMs = 5_000;

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

export function endOnBugs(log: Log): void {
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "The process ended because of a bug");
    process.exit(1);
  });
}

export interface ServerOptions {
  config: Config;
  log: Log;
  frontListener: FrontListener;
  /** Undefined if this is the only process. */
  shared?: SharedHome;
  onReady(gantry: Gantry): void;
}

export interface RunningServer {
  /** Stops once, and ends the process. */
  stop(signal: string): void;
}

/** Loads the server after the port is open: loading takes most of a start. */
async function start(options: ServerOptions, signal: AbortSignal): Promise<Gantry> {
  enableCompileCache(compileCacheFolder(process.env));
  const { compose } = await import("../compose/compose.ts");
  return compose(options.config, options.log, say, signal, options.shared);
}

/** The server of this process, from its start to the end of the process. */
export function runServer(options: ServerOptions): RunningServer {
  const { log, frontListener } = options;
  const aborter = new AbortController();
  const starting = start(options, aborter.signal);
  starting.then(
    (gantry) => {
      frontListener.open(gantry.listener, gantry.notReady);
      options.onReady(gantry);
      flushCompileCache();
    },
    (error: unknown) => {
      if (!aborter.signal.aborted) refuse(describeError(error));
    },
  );
  const stop = createStop(options, starting, aborter);
  return {
    stop(signal) {
      stop(signal).catch((error) => {
        log.error({ err: error }, "Stopping failed");
        process.exit(1);
      });
    },
  };
}

/**
 * Stops once, in order: `/readyz` answers 503, load balancers get time to notice, new work is refused, running work may
 * finish, engines close last. A signal during start-up aborts the start if that is safe, and otherwise waits for it.
 */
function createStop(
  { config, frontListener, log }: ServerOptions,
  starting: Promise<Gantry>,
  aborter: AbortController,
): (signal: string) => Promise<void> {
  const delayMs = config.GANTRY_STOP_DELAY_SECONDS * 1000;
  const drainMs = config.GANTRY_STOP_GRACE_SECONDS * 1000;
  let stopping = false;
  let started: Gantry | undefined;
  starting.then(
    (gantry) => {
      started = gantry;
    },
    () => undefined,
  );
  return async (signal) => {
    if (stopping) return;
    stopping = true;
    aborter.abort();
    log.info({ signal }, "Stopping: new work is refused, running work may finish");
    frontListener.closeAfterAnswers();
    if (started && delayMs > 0) {
      frontListener.open(started.listener, async () => "The server is shutting down");
      await sleep(delayMs);
    }
    frontListener.refuseNew();
    reportSlowStop(frontListener, () => started, log);
    const gantry = await starting.catch(() => undefined);
    await Promise.all([gantry?.drain(drainMs), frontListener.idle(drainMs)]);
    await Promise.race([frontListener.close(), sleep(lastBytesMs)]);
    await gantry?.close();
    log.info("Stopped");
    process.exit(0);
  };
}

function reportSlowStop(frontListener: FrontListener, started: () => Gantry | undefined, log: Log): void {
  setInterval(() => {
    const gantry = started();
    const rest = gantry?.stillThere() ?? { predictions: 0, runs: 0, queries: 0, closing: "start-up" };
    const stillThere = { ...rest, answers: frontListener.underWay() };
    log.info(stillThere, `Still stopping, waiting for: ${waitedFor(stillThere) ?? "client connections"}`);
  }, reportStopMs).unref();
}

/** What a start tells the operator. */
export function startLines(
  gantry: Pick<Gantry, "found" | "firstKey" | "firstSignInUrl">,
  config: Config,
  port: number,
  isTerminal: boolean,
): string[] {
  const address = listeningAddress(config.HOST, port);
  const lines = [...gantry.found, `Gantry listens on ${address}`];
  if (config.GANTRY_ROLE !== "worker") lines.push(`Console: ${config.GANTRY_PUBLIC_URL ?? address}/console/`);
  if (config.GANTRY_PUBLIC_URL) lines.push(`Public URL for links: ${config.GANTRY_PUBLIC_URL}`);
  if (gantry.firstSignInUrl && isPackaged) {
    lines.push(`Database, files and keys are in ${config.GANTRY_HOME} (GANTRY_HOME)`);
  }
  if (gantry.firstKey) lines.push(`Admin API key (shown once): ${gantry.firstKey}`);
  if (gantry.firstSignInUrl) {
    const base = config.GANTRY_PUBLIC_URL ?? addressToCall(config.HOST, port);
    // Without a terminal the output is a log, and its readers must not become admin.
    const isForPerson = config.GANTRY_ADMIN_KEY === undefined || isTerminal;
    const link = gantry.firstSignInUrl(base);
    if (isForPerson) lines.push(`Sign in to the console (link works once, for 24 hours): ${link}`);
    else lines.push(`Sign in to the console with: ${commandName} sign-in --url ${base} --key "$GANTRY_ADMIN_KEY"`);
  }
  return lines;
}

/** Opens the port, or ends the process with the reason. */
export async function openPort(config: Config, listen: () => Promise<number>): Promise<number> {
  try {
    return await listen();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      refuse(
        `Port ${config.PORT} on ${config.HOST} is in use, perhaps by another Gantry server. Set PORT to a free port.`,
      );
    }
    return refuse(`Gantry cannot listen on ${config.HOST} port ${config.PORT}: ${message}`);
  }
}

export const stopSignals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
