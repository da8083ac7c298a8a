import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import type { Gantry } from "./compose/compose.ts";
import { waitedFor } from "./compose/stopping.rules.ts";
import { type Config, readConfig, settings } from "./config/config.ts";
import { addressToCall, listeningAddress } from "./config/own-address.rules.ts";
import { overruledSettings, unknownSettings } from "./config/setting-rules.ts";
import { createFrontListener, type FrontListener } from "./http/foundation/front-listener.ts";
import { listenerDialects } from "./http/listener-dialects.ts";
import { describeError } from "./kernel/describe-error.ts";
import { createLog, type Log } from "./kernel/log.ts";

// Without this flag V8 allocates objects in the old generation once a few of their kind survived two collections, as
// requests that wait for the database do. Dead old objects then keep the rest of each request alive (decision 0014).
setFlagsFromString("--no-allocation-site-pretenuring");

const oldestNode = 24;
/** Time for the last bytes of responses after the drain. */
const lastBytesMs = 2_000;
/** How often a slow stop logs what it waits for. */
const reportStopMs = 5_000;
const checkout = fileURLToPath(new URL("../../..", import.meta.url));

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readConfigOrRefuse(): Config {
  try {
    return readConfig(process.env, checkout);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

async function listen(frontListener: FrontListener, config: Config): Promise<number> {
  try {
    return await frontListener.listen(config.HOST, config.PORT);
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

/** Loads the server after the port is open: loading takes most of a start. */
async function start(config: Config, log: Log, signal: AbortSignal): Promise<Gantry> {
  enableCompileCache(join(checkout, "node_modules", ".cache", "gantry"));
  const { compose } = await import("./compose/compose.ts");
  return compose(config, log, say, signal);
}

function reportSlowStop(frontListener: FrontListener, started: () => Gantry | undefined, log: Log): void {
  setInterval(() => {
    const gantry = started();
    const rest = gantry?.stillThere() ?? { predictions: 0, runs: 0, queries: 0, closing: "start-up" };
    const stillThere = { ...rest, answers: frontListener.underWay() };
    log.info(stillThere, `Still stopping, waiting for: ${waitedFor(stillThere) ?? "client connections"}`);
  }, reportStopMs).unref();
}

/**
 * Stops once, in order: `/readyz` answers 503, load balancers get time to notice, new work is refused, running work may
 * finish, engines close last. A signal during start-up aborts the start if that is safe, and otherwise waits for it.
 */
function stopOnSignal(
  frontListener: FrontListener,
  starting: Promise<Gantry>,
  aborter: AbortController,
  { delayMs, drainMs }: { delayMs: number; drainMs: number },
  log: Log,
): void {
  let stopping = false;
  let started: Gantry | undefined;
  starting.then(
    (gantry) => {
      started = gantry;
    },
    () => undefined,
  );
  const stop = async (signal: string) => {
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
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    process.on(signal, () => {
      stop(signal).catch((error) => {
        log.error({ err: error }, "Stopping failed");
        process.exit(1);
      });
    });
  }
}

async function main(): Promise<void> {
  if (Number(process.versions.node.split(".", 1)[0]) < oldestNode) {
    refuse(`Gantry needs Node ${oldestNode} or later; this is ${process.version}. Start it with: npm start`);
  }
  const config = readConfigOrRefuse();
  const log = createLog(config.GANTRY_LOG_LEVEL);
  for (const warning of unknownSettings(process.env, Object.keys(settings))) log.warn(warning);
  for (const warning of overruledSettings(config)) log.warn(warning);
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "The process ended because of a bug");
    process.exit(1);
  });
  const frontListener = createFrontListener(config.GANTRY_PUBLIC_URL, listenerDialects);
  const port = await listen(frontListener, config);
  const aborter = new AbortController();
  const starting = start(config, log, aborter.signal);
  const times = {
    delayMs: config.GANTRY_STOP_DELAY_SECONDS * 1000,
    drainMs: config.GANTRY_STOP_GRACE_SECONDS * 1000,
  };
  stopOnSignal(frontListener, starting, aborter, times, log);
  const gantry = await starting.catch((error: unknown) => {
    if (!aborter.signal.aborted) refuse(describeError(error));
  });
  if (!gantry) return;
  frontListener.open(gantry.listener, gantry.notReady);

  for (const line of gantry.found) say(line);
  const address = listeningAddress(config.HOST, port);
  say(`Gantry listens on ${address}`);
  if (config.GANTRY_ROLE !== "worker") say(`Console: ${config.GANTRY_PUBLIC_URL ?? address}/console/`);
  if (config.GANTRY_PUBLIC_URL) say(`Public URL for links: ${config.GANTRY_PUBLIC_URL}`);
  if (gantry.firstKey) {
    say(`Admin API key (shown once): ${gantry.firstKey}`);
  }
  if (gantry.firstSignInUrl) {
    const base = config.GANTRY_PUBLIC_URL ?? addressToCall(config.HOST, port);
    // Without a terminal the output is a log, and its readers must not become admin.
    const isForPerson = config.GANTRY_ADMIN_KEY === undefined || process.stdout.isTTY;
    if (isForPerson) say(`Sign in to the console (link works once, for 24 hours): ${gantry.firstSignInUrl(base)}`);
    else say(`Sign in to the console with: npx gantry sign-in --url ${base} --key "$GANTRY_ADMIN_KEY"`);
  }
  flushCompileCache();
}

await main();
