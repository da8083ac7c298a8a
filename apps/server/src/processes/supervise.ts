import { createServer, type Server } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { makeHome } from "../compose/home.ts";
import type { Config } from "../config/config.ts";
import { connectionsOfProcess, type EmbeddedDatabase, startEmbeddedDatabase } from "../engines/database/index.ts";
import { createFrontListener } from "../http/foundation/front-listener.ts";
import { listenerDialects } from "../http/listener-dialects.ts";
import { describeError } from "../kernel/describe-error.ts";
import type { Log } from "../kernel/log.ts";
import { type Child, type Exit, startChild } from "./child.ts";
import { createHandOver } from "./hand-over.ts";
import type { FromServer, ToServer } from "./protocol.ts";
import { endsAll, restartDelayMs, steadyMs } from "./restart.rules.ts";
import { openPort, refuse, say, stopSignals } from "./run-server.ts";
import { createScrapes } from "./scrapes.ts";

/** Beyond the delay and the grace of a stop. A process that is not finished then hangs. */
const hangsAfterMs = 60_000;

/**
 * Runs several server processes. This process holds what exists once: the home, the embedded PostgreSQL, the port and the
 * output. The others are nodes like those of a cluster. One that ends is replaced, and the others take over its work.
 */
export async function supervise(config: Config, log: Log): Promise<void> {
  const wanted = config.GANTRY_PROCESSES;
  const children = new Map<number, Child>();
  const failures = new Map<number, number>();
  /** Nodes whose end is not known to any process yet. */
  const gone: string[] = [];
  let database: EmbeddedDatabase | undefined;
  let stopping: string | undefined;
  let isFailed = false;

  const all = () => [...children.values()];
  const serving = () => all().filter(({ state }) => state === "serving");
  const front = createFrontListener(config.GANTRY_PUBLIC_URL, listenerDialects);
  // A kept connection would stay here, and its client would never reach a process that serves.
  front.closeAfterAnswers();
  const handOver = createHandOver(all, front.take);
  const scrapes = createScrapes(serving, wanted);
  const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true, noDelay: true }, handOver.give);
  const port = await openPort(config, () => listen(listener, config));

  const starting = openHome();
  for (const signal of stopSignals) process.on(signal, () => void stop(signal));
  database = await starting.catch((error: unknown) => refuse(describeError(error)));
  if (stopping !== undefined) return;
  if (!(await startFirst())) return;
  for (let number = 2; number <= wanted; number++) void keepRunning(number);
  void keepRunning(1, children.get(1));

  function tellAll(message: ToServer): void {
    for (const child of all()) child.send(message);
  }

  async function openHome(): Promise<EmbeddedDatabase | undefined> {
    await makeHome(config.GANTRY_HOME, (warning) => log.warn(warning));
    if (config.DATABASE_URL !== undefined) return undefined;
    return startEmbeddedDatabase({
      home: config.GANTRY_HOME,
      programs: config.GANTRY_POSTGRES_BIN,
      connections: wanted * connectionsOfProcess,
      onProgress: say,
      onWarning: (text) => log.warn(text),
      onTrouble: (text, error) => log.error({ err: error }, text),
      onRestart: (newPort) => tellAll({ kind: "database", port: newPort }),
      onFull: () => tellAll({ kind: "disk full" }),
    });
  }

  /** The first process applies the migrations and creates the admin. If it cannot start, no other can. */
  async function startFirst(): Promise<boolean> {
    const first = startOne(1, true);
    const isUp = await Promise.race([first.isUp, first.child.ended.then(() => false)]);
    if (isUp || stopping !== undefined) return isUp;
    await database?.close();
    process.exit(1);
  }

  function startOne(number: number, isFirst: boolean): { child: Child; isUp: Promise<true> } {
    const up = Promise.withResolvers<true>();
    const child = startChild(
      {
        kind: "start",
        number,
        of: wanted,
        port,
        databaseUrl: database?.url,
        isFirst,
        gone: gone.splice(0),
        isTerminal: process.stdout.isTTY,
      },
      (from, message) => {
        receive(from, message, isFirst);
        if (message.kind === "ready") up.resolve(true);
      },
    );
    children.set(number, child);
    void nameHelper(child);
    void child.ended.then((exit) => {
      handOver.ended(child);
      scrapes.ended(child);
      reportNode(child);
      reportExit(child, exit);
    });
    return { child, isUp: up.promise };
  }

  async function nameHelper({ number, pid, ended }: Child): Promise<void> {
    try {
      const forget = await database?.addHelper(pid);
      await ended;
      await forget?.();
    } catch (error) {
      log.warn({ err: error, process: number, pid }, "GANTRY_HOME could not be updated with a server process");
    }
  }

  function receive(child: Child, message: FromServer, isFirst: boolean): void {
    if (message.kind === "taken") handOver.taken(message.id);
    else if (message.kind === "report") scrapes.reported(child, message.id, message.text);
    else if (message.kind === "metrics") void scrapes.read().then((text) => child.send({ ...message, text }));
    else if (message.kind === "stopping") child.state = "stopping";
    else {
      child.nodeId = message.nodeId;
      if (child.state === "starting") child.state = "serving";
      if (isFirst) for (const line of message.lines) say(line);
    }
  }

  /** Another process takes over the work at once. */
  function reportNode({ nodeId }: Child): void {
    if (nodeId === undefined || stopping !== undefined) return;
    const [other] = serving();
    if (other) other.send({ kind: "gone", nodeId }, undefined, () => gone.push(nodeId));
    else gone.push(nodeId);
  }

  function reportExit({ number, pid }: Child, { code, signal }: Exit): void {
    const fields = { process: number, pid, ...(signal === null ? { code } : { signal }) };
    if (stopping !== undefined) {
      if (code === 0) return;
      isFailed = true;
      log.error(fields, "A server process did not stop in order");
    } else if (code === 0) log.info(fields, "A server process has stopped. A new one replaces it");
    else log.error(fields, "A server process has ended. A new one replaces it");
  }

  /** Starts the process again whenever it ends. */
  async function keepRunning(number: number, running?: Child): Promise<void> {
    for (let child = running; stopping === undefined; child = undefined) {
      const startedAt = performance.now();
      child ??= startOne(number, false).child;
      const { code } = await child.ended;
      const isSteady = child.nodeId !== undefined && performance.now() - startedAt > steadyMs;
      failures.set(number, code === 0 || isSteady ? 0 : (failures.get(number) ?? 0) + 1);
      if (stopping !== undefined) return;
      if (serving().length === 0 && endsAll(failures.get(number) ?? 0)) return giveUp();
      await sleep(restartDelayMs(failures.get(number) ?? 0));
    }
  }

  function giveUp(): void {
    if (stopping !== undefined) return;
    isFailed = true;
    log.fatal("Server processes end again and again, so Gantry stops. Their last messages say why");
    void stop("failure");
  }

  async function stop(signal: string): Promise<void> {
    if (stopping !== undefined) return;
    stopping = signal;
    front.refuseNew();
    const limitMs = (config.GANTRY_STOP_DELAY_SECONDS + config.GANTRY_STOP_GRACE_SECONDS) * 1000 + hangsAfterMs;
    await Promise.all(all().map((child) => stopOne(child, signal, limitMs)));
    listener.close();
    database ??= await starting.catch(() => undefined);
    await database?.close();
    log.info("All processes have stopped");
    process.exit(isFailed ? 1 : 0);
  }

  async function stopOne(child: Child, signal: string, limitMs: number): Promise<void> {
    child.send({ kind: "stop", signal });
    const late = setTimeout(() => child.kill("SIGKILL"), limitMs);
    await child.ended;
    clearTimeout(late);
  }
}

function listen(listener: Server, { HOST, PORT }: Config): Promise<number> {
  return new Promise((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(PORT, HOST, () => {
      listener.off("error", reject);
      const address = listener.address();
      resolve(typeof address === "object" && address ? address.port : PORT);
    });
  });
}
