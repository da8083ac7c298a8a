import { fileURLToPath } from "node:url";
import { compose, type Gantry } from "./compose.ts";
import { type Config, readConfig } from "./config.ts";
import { createDoorway, type Doorway } from "./http/foundation/doorway.ts";
import { createLog, type Log } from "./kernel/log.ts";

const oldestNode = 24;
const drainMs = 30_000;
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

async function listen(doorway: Doorway, config: Config): Promise<number> {
  try {
    return await doorway.listen(config.HOST, config.PORT);
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

function stopOnSignal(doorway: Doorway, gantry: Gantry, log: Log): void {
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "Stopping: no new work, running work may end");
    const closed = doorway.close();
    await gantry.drain(drainMs);
    await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 2_000))]);
    await gantry.close();
    log.info("Stopped");
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
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
  process.on("uncaughtException", (error) => {
    log.fatal({ err: error }, "A bug ended the process");
    process.exit(1);
  });
  const doorway = createDoorway(config.GANTRY_PUBLIC_URL);
  const port = await listen(doorway, config);
  const gantry = await compose(config, log, say).catch((error: unknown) =>
    refuse(error instanceof Error ? error.message : String(error)),
  );
  doorway.open(gantry.listener, gantry.ready);
  stopOnSignal(doorway, gantry, log);

  const host = config.HOST.includes(":") ? `[${config.HOST}]` : config.HOST;
  say(`Gantry listens on ${config.GANTRY_PUBLIC_URL ?? `http://${host}:${port}`}`);
  if (gantry.firstKey) {
    say(`API key of the user admin (shown only now): ${gantry.firstKey}`);
  }
}

await main();
