import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../src/engines/database/free-port.ts";
import { selfSigned } from "../../src/engines/net/self-signed.fixture.ts";
import { isFile, type Needed } from "./system-packages.ts";

/** A separate RabbitMQ. Its address survives `kill` and `start`. */
export interface RabbitMqNode {
  /** The address of a virtual host, from 0. */
  url(virtualHost: number): string;
  /** The same over TLS. The certificate is for `localhost`, signed by `caFile`. */
  tlsUrl(virtualHost: number): string;
  caFile: string;
  pid(): number;
  /** Resolves when the node accepts connections. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** Stops the process (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

const server = "/usr/lib/rabbitmq/bin/rabbitmq-server";
const path = "/usr/bin:/bin:/usr/sbin:/sbin";
const startWithinMs = 60_000;
/** A prefix that ends the command with this process, however it ends. */
const bound = ["setpriv", "--pdeathsig", "KILL"] as const;

export const rabbitMq: Needed = {
  name: "RabbitMQ",
  packages: ["rabbitmq-server"],
  isThere: () => isFile(server),
};

/** Starts a node without plugins on the loopback address, with its state in a temporary directory. */
export async function startRabbitMqNode(virtualHosts: number): Promise<RabbitMqNode> {
  for (let attempt = 1; ; attempt++) {
    const node = await createNode(virtualHosts);
    try {
      await node.start();
      return node;
    } catch (error) {
      await node.stop();
      if (attempt === 3) throw error; // another process may have taken one of its ports
    }
  }
}

async function createNode(virtualHosts: number): Promise<RabbitMqNode> {
  const home = await mkdtemp(join(tmpdir(), "gantry-rabbitmq-"));
  const [port = 0, tlsPort = 0, distributionPort = 0, epmdPort = 0] = await freePorts(4);
  const [caFile, keyFile, configFile] = [join(home, "ca.pem"), join(home, "key.pem"), join(home, "rabbitmq.conf")];
  const [definitionsFile, pluginsFile] = [join(home, "definitions.json"), join(home, "enabled_plugins")];
  await writeFile(caFile, selfSigned.cert);
  await writeFile(keyFile, selfSigned.key);
  await writeFile(pluginsFile, "[].");
  await writeFile(definitionsFile, JSON.stringify(definitions(virtualHosts)));
  await writeFile(
    configFile,
    [
      `listeners.tcp.1 = 127.0.0.1:${port}`,
      `listeners.ssl.1 = 127.0.0.1:${tlsPort}`,
      `ssl_options.certfile = ${caFile}`,
      `ssl_options.keyfile = ${keyFile}`,
      `load_definitions = ${definitionsFile}`,
      "disk_free_limit.absolute = 10MB",
      "vm_memory_high_watermark.absolute = 512MB",
      "raft.wal_max_size_bytes = 16777216",
    ].join("\n"),
  );
  const env = {
    PATH: path,
    LANG: "C.UTF-8",
    HOME: home, // Erlang keeps its cookie there
    ERL_EPMD_ADDRESS: "127.0.0.1",
    ERL_EPMD_PORT: String(epmdPort),
    RABBITMQ_NODENAME: `gantry-test-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_CONF_ENV_FILE: "/dev/null",
    RABBITMQ_CONFIG_FILE: configFile,
    RABBITMQ_ENABLED_PLUGINS_FILE: pluginsFile,
    RABBITMQ_MNESIA_BASE: join(home, "mnesia"),
    RABBITMQ_LOG_BASE: join(home, "log"),
    // Erlang's schedulers otherwise spin while they wait and take CPU time from the tests.
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS:
      "+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}",
    detached: "1", // makes the start script exec the server
  };
  const run = async (program: string): Promise<ChildProcess> => {
    const output = await open(join(home, "output.log"), "a");
    try {
      const [file, ...args] = bound;
      return spawn(file, [...args, program], { env, cwd: home, stdio: ["ignore", output.fd, output.fd] });
    } finally {
      await output.close();
    }
  };
  // The server would start Erlang's name service as a daemon that outlives it, unless one runs.
  const names = await run("epmd");
  let broker: ChildProcess | undefined;

  return {
    url: (virtualHost) => `amqp://guest:guest@127.0.0.1:${port}/${virtualHost}`,
    tlsUrl: (virtualHost) => `amqps://guest:guest@localhost:${tlsPort}/${virtualHost}`,
    caFile,
    pid: () => broker?.pid ?? 0,
    async start() {
      const starting = await run(server);
      broker = starting;
      for (const until = Date.now() + startWithinMs; !(await answers(port)); await sleep(50)) {
        if (hasEnded(starting)) throw new Error(`RabbitMQ did not start, see ${home}`);
        if (Date.now() > until) throw new Error(`RabbitMQ took longer than ${startWithinMs} ms to start`);
      }
    },
    kill: () => end(broker),
    pause: () => void broker?.kill("SIGSTOP"),
    resume: () => void broker?.kill("SIGCONT"),
    async stop() {
      await end(broker);
      await end(names);
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

function definitions(virtualHosts: number): object {
  const names = Array.from({ length: virtualHosts }, (_, index) => String(index));
  return {
    users: [{ name: "guest", password: "guest", tags: "administrator" }],
    vhosts: names.map((name) => ({ name })),
    permissions: names.map((vhost) => ({ user: "guest", vhost, configure: ".*", write: ".*", read: ".*" })),
  };
}

async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || hasEnded(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}
