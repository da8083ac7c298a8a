import { enableCompileCache, flushCompileCache } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import type { Gantry } from "./compose/compose.ts";
import { waitedFor } from "./compose/stopping.rules.ts";
import { type Config, readConfig, settings } from "./config/config.ts";
import { addressToCall, listeningAddress } from "./config/own-address.rules.ts";
import { overruledSettings, unknownSettings } from "./config/setting-rules.ts";
import { doorDialects } from "./http/door-dialects.ts";
import { createFrontListener, type FrontListener } from "./http/foundation/front-listener.ts";
import { describeError } from "./kernel/describe-error.ts";
import { createLog, type Log } from "./kernel/log.ts";

// What V8 once saw to live long it makes old from then on. A request that waits for the database for two collections in a
// row is enough for that, and afterwards each request leaves a few dead old objects that keep all the rest of it alive.
setFlagsFromString("--no-allocation-site-pretenuring");

const oldestNode = 24;
/** After the drain, for the last bytes of answers on their way. */
const lastBytesMs = 2_000;
/** A stop that lasts so long says what it waits for, and again as long as it lasts. */
const tellStopMs = 5_000;
const checkout = fileURLToPath(new URL("../../..", import.meta.url));

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Ends the process with one clear message and nothing half-started behind. */
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
        `Port ${config.PORT} on ${config.HOST} is taken by another program (or by a Gantry that already runs): set PORT to another.`,
      );
    }
    return refuse(`Gantry cannot listen on ${config.HOST} port ${config.PORT}: ${message}`);
  }
}

/** The program behind the door, loaded once the door is open: loading is most of a start. */
async function start(config: Config, log: Log, signal: AbortSignal): Promise<Gantry> {
  enableCompileCache(join(checkout, "node_modules", ".cache", "gantry"));
  const { compose } = await import("./compose/compose.ts");
  return compose(config, log, say, signal);
}

function tellWhatLasts(frontListener: FrontListener, started: () => Gantry | undefined, log: Log): void {
  setInterval(() => {
    const gantry = started();
    const rest = gantry?.stillThere() ?? { predictions: 0, runs: 0, queries: 0, closing: "its own start" };
    const stillThere = { ...rest, answers: frontListener.underWay() };
    log.info(stillThere, `Still stopping, waiting for: ${waitedFor(stillThere) ?? "connections of clients"}`);
  }, tellStopMs).unref();
}

/**
 * Stops in order, once: `/readyz` says so, and where the operator wants it that is all until load balancers have noticed;
 * then no new work, what runs may end, engines last. A signal that comes while the program is still starting cuts the
 * start off where that can be done with nothing half-made left behind, and waits for it where it cannot.
 */
function stopOnSignal(
  frontListener: FrontListener,
  starting: Promise<Gantry>,
  cutOff: AbortController,
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
    cutOff.abort();
    log.info({ signal }, "Stopping: no new work, running work may end");
    frontListener.closeAfterAnswers();
    if (started && delayMs > 0) {
      frontListener.open(started.listener, async () => "The server is shutting down");
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    frontListener.refuseNew();
    tellWhatLasts(frontListener, () => started, log);
    const gantry = await starting.catch(() => undefined);
    await Promise.all([gantry?.drain(drainMs), frontListener.idle(drainMs)]);
    await Promise.race([frontListener.close(), new Promise((resolve) => setTimeout(resolve, lastBytesMs))]);
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
    refuse(`Gantry runs on Node ${oldestNode} or later, this is ${process.version}. Start it with: npm start`);
  }
  const config = readConfigOrRefuse();
  const log = createLog(config.GANTRY_LOG_LEVEL);
  for (const warning of unknownSettings(process.env, Object.keys(settings))) log.warn(warning);
  for (const warning of overruledSettings(config)) log.warn(warning);
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "A bug ended the process");
    process.exit(1);
  });
  const frontListener = createFrontListener(config.GANTRY_PUBLIC_URL, doorDialects);
  const port = await listen(frontListener, config);
  const cutOff = new AbortController();
  const starting = start(config, log, cutOff.signal);
  const patience = {
    delayMs: config.GANTRY_STOP_DELAY_SECONDS * 1000,
    drainMs: config.GANTRY_STOP_GRACE_SECONDS * 1000,
  };
  stopOnSignal(frontListener, starting, cutOff, patience, log);
  const gantry = await starting.catch((error: unknown) => {
    if (!cutOff.signal.aborted) refuse(describeError(error));
  });
  if (!gantry) return;
  frontListener.open(gantry.listener, gantry.notReady);

  const address = listeningAddress(config.HOST, port);
  say(`Gantry listens on ${address}`);
  if (config.GANTRY_ROLE !== "worker") say(`The console is at ${config.GANTRY_PUBLIC_URL ?? address}/console/`);
  if (config.GANTRY_PUBLIC_URL) say(`Links lead to ${config.GANTRY_PUBLIC_URL} (GANTRY_PUBLIC_URL)`);
  if (gantry.firstKey) {
    say(`API key of the user admin (shown only now): ${gantry.firstKey}`);
  }
  if (gantry.firstSignInUrl) {
    const base = config.GANTRY_PUBLIC_URL ?? addressToCall(config.HOST, port);
    // Without a terminal the output is a log: whoever reads it would be admin. An operator with a key needs no link.
    const isForPerson = config.GANTRY_ADMIN_KEY === undefined || process.stdout.isTTY;
    if (isForPerson) say(`To sign in to the console, once and within a day: ${gantry.firstSignInUrl(base)}`);
    else say(`To sign in to the console, run: npx gantry sign-in --url ${base} --key "$GANTRY_ADMIN_KEY"`);
  }
  flushCompileCache();
}

await main();
