import { type Config, readConfig, settings } from "./config/config.ts";
import { baseFolder } from "./config/own-folder.ts";
import { overruledSettings, unknownSettings } from "./config/setting-rules.ts";
import { createFrontListener } from "./http/foundation/front-listener.ts";
import { listenerDialects } from "./http/listener-dialects.ts";
import { createLog, type Log } from "./kernel/log.ts";
import { endOnBugs, openPort, refuse, runServer, say, startLines, stopSignals } from "./processes/run-server.ts";

const oldestNode = 24;

function readConfigOrRefuse(): Config {
  try {
    return readConfig(process.env, baseFolder);
  } catch (error) {
    return refuse((error as Error).message);
  }
}

async function serveAlone(config: Config, log: Log): Promise<void> {
  const frontListener = createFrontListener(config.GANTRY_PUBLIC_URL, listenerDialects);
  const port = await openPort(config, () => frontListener.listen(config.HOST, config.PORT));
  const server = runServer({
    config,
    log,
    frontListener,
    onReady: (gantry) => {
      for (const line of startLines(gantry, config, port, process.stdout.isTTY)) say(line);
    },
  });
  for (const signal of stopSignals) process.on(signal, () => server.stop(signal));
}

async function main(): Promise<void> {
  if (Number(process.versions.node.split(".", 1)[0]) < oldestNode) {
    refuse(`Gantry needs Node ${oldestNode} or later; this is ${process.version}. Start it with: npm start`);
  }
  const config = readConfigOrRefuse();
  // Readers of the output may leave.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const log = createLog(config.GANTRY_LOG_LEVEL);
  for (const warning of unknownSettings(process.env, Object.keys(settings))) log.warn(warning);
  for (const warning of overruledSettings(config)) log.warn(warning);
  endOnBugs(log);
  if (config.GANTRY_PROCESSES === 1) return serveAlone(config, log);
  const { supervise } = await import("./processes/supervise.ts");
  await supervise(config, log);
}

await main();
