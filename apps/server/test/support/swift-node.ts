import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, open, readdir, rm, writeFile } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../src/engines/database/free-port.ts";
import type { Needed } from "./system-packages.ts";

const run = promisify(execFile);
const python = "/usr/bin/python3";
const program = fileURLToPath(new URL("./swift-server.py", import.meta.url));
const startWithinMs = 60_000;
const region = "test-1";
const user = "gantry:test";

export const swift: Needed = {
  name: "S3",
  packages: ["swift-account", "swift-container", "swift-object", "swift-proxy"],
  isThere: () =>
    run(python, ["-c", "import swift.common.middleware.s3api, swift.obj.server, swift.account.server"]).then(
      () => true,
      () => false,
    ),
};

/** Swift stores metadata in extended attributes, which not every file system supports. */
async function newHome(): Promise<string> {
  for (const base of [tmpdir(), "/var/tmp", homedir()]) {
    const home = await mkdtemp(join(base, "gantry-swift-")).catch(() => undefined);
    if (home === undefined) continue;
    const probe = "import os, sys; os.setxattr(sys.argv[1], 'user.swift.probe', b'x' * 1024)";
    const fits = await run(python, ["-c", probe, home]).then(
      () => true,
      () => false,
    );
    if (fits) return home;
    await rm(home, { recursive: true });
  }
  throw new Error("No folder for temporary files has extended attributes, which Swift needs");
}

export interface SwiftNode {
  endpoint: string;
  region: string;
  bucket: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Resolves when it answers. The address stays the same. */
  start(): Promise<void>;
  /** kill -9 */
  kill(): Promise<void>;
  /** Stops the process (SIGSTOP) until `resume`. */
  pause(): void;
  resume(): void;
  /** Number of objects and parts on its disk, including unlisted ones. */
  storedFiles(): Promise<number>;
  /** Ends it and removes its files. */
  stop(): Promise<void>;
}

export async function createSwiftNode(): Promise<SwiftNode> {
  const home = await newHome();
  const secretAccessKey = randomBytes(24).toString("hex");
  const ports: number[] = [];
  while (ports.length < 4) ports.push(...[await freePort()].filter((port) => !ports.includes(port)));
  await mkdir(join(home, "devices", "disk"), { recursive: true });
  for (const [name, text] of Object.entries(configuration(home, secretAccessKey))) {
    await writeFile(join(home, name), text);
  }
  const endpoint = `http://127.0.0.1:${ports[3]}`;
  let server: ChildProcess | undefined;

  const runs = (): boolean => server?.exitCode === null && server.signalCode === null;
  const end = async (): Promise<void> => {
    if (!server || !runs()) return;
    const ended = once(server, "exit");
    server.kill("SIGKILL");
    await ended;
  };

  return {
    endpoint,
    region,
    bucket: "gantry-test",
    accessKeyId: user,
    secretAccessKey,
    async start() {
      if (runs()) return;
      const output = await open(join(home, "output.log"), "a");
      // The server ends with this process, however it ends.
      const bound = ["--pdeathsig", "KILL", python, program, home, ...ports.map(String)];
      const starting = spawn("setpriv", bound, { cwd: home, stdio: ["ignore", output.fd, output.fd] });
      server = starting;
      await output.close();
      for (const until = Date.now() + startWithinMs; !(await answers(endpoint)); await sleep(50)) {
        if (starting.exitCode !== null) throw new Error(`Swift did not start, see ${home}/output.log`);
        if (Date.now() > until) throw new Error(`Swift took longer than ${startWithinMs} ms to start`);
      }
    },
    kill: end,
    pause: () => void server?.kill("SIGSTOP"),
    resume: () => void server?.kill("SIGCONT"),
    async storedFiles() {
      const objects = join(home, "devices", "disk", "objects");
      return (await readdir(objects, { recursive: true })).filter((name) => name.endsWith(".data")).length;
    },
    async stop() {
      await end();
      await rm(home, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

const answers = (endpoint: string): Promise<boolean> =>
  fetch(endpoint, { signal: AbortSignal.timeout(1000) }).then(
    () => true,
    () => false,
  );

function configuration(home: string, secret: string): Record<string, string> {
  const usual = `[DEFAULT]\nuser = ${userInfo().username}\nswift_dir = ${home}\nlog_level = ERROR\n`;
  const storage = (name: string) =>
    `${usual}devices = ${join(home, "devices")}\nmount_check = false\n` +
    `[pipeline:main]\npipeline = ${name}-server\n[app:${name}-server]\nuse = egg:swift#${name}\n`;
  const filters = ["catch_errors", "memcache", "s3api", "tempauth", "bulk", "slo", "dlo"];
  const settings: Record<string, string> = {
    // Swift needs a cache address but works without an answer. Tests must not use the machine's memcached.
    memcache: "memcache_servers = 127.0.0.1:1\n",
    s3api: `location = ${region}\nmax_upload_part_num = 10000\n`,
    tempauth: `user_${user.replace(":", "_")} = ${secret} .admin\n`,
  };
  const filterText = filters.map((name) => `[filter:${name}]\nuse = egg:swift#${name}\n${settings[name] ?? ""}`);
  return {
    "swift.conf": "[swift-hash]\nswift_hash_path_suffix = gantry\n[storage-policy:0]\nname = Policy-0\ndefault = yes\n",
    "account.conf": storage("account"),
    "container.conf": storage("container"),
    "object.conf": storage("object"),
    "proxy.conf":
      `${usual}[pipeline:main]\npipeline = ${filters.join(" ")} proxy-server\n${filterText.join("")}` +
      "[app:proxy-server]\nuse = egg:swift#proxy\nallow_account_management = true\naccount_autocreate = true\n",
  };
}
