/**
 * Prepares a checkout so that its commands can run, with only the machine's Node (20 or later) and npm. Installs the
 * locked packages when they are missing or outdated, and finds the Node 24 that comes with them. Installations without
 * development packages are never changed. Imports no package, because none may be installed yet.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const marker = join(root, "node_modules", ".gantry-installed");
/** npm's record of a completed installation. */
const installedFile = join(root, "node_modules", ".package-lock.json");

function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** The Node that runs Gantry: the packaged one where the platform has it, otherwise the machine's if it is new enough. */
function runtime() {
  const brought = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(brought)) return brought;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  throw new Error(
    `Gantry needs Node 24 or later. This is ${process.version}, and npm has no Node for ${process.platform}-${process.arch}. Install Node 24 and try again.`,
  );
}

/** By path; undefined without an installation. */
function installedPackages() {
  if (!existsSync(installedFile)) return undefined;
  try {
    return JSON.parse(readFileSync(installedFile, "utf8")).packages;
  } catch {
    // npm was interrupted.
    return undefined;
  }
}

/** Created with `npm ci --omit=dev`. */
function isForRunningOnly() {
  const installed = installedPackages();
  return installed !== undefined && !Object.values(installed).some(({ dev }) => dev);
}

/** A plain `npm ci` leaves the locked packages without a marker. */
function isAsLocked() {
  const installed = installedPackages();
  if (installed === undefined) return false;
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const isSame = (a, b) => a.version === b.version && a.integrity === b.integrity && a.resolved === b.resolved;
  return (
    Object.keys(installed).every((place) => place in packages) &&
    Object.entries(packages).every(([place, locked]) => {
      // Workspaces are linked, and have no version.
      if (!place.includes("node_modules/")) return true;
      return place in installed ? isSame(installed[place], locked) : mayBeLeftOut(locked);
    })
  );
}

/**
 * npm omits packages for other platforms and their dependencies. Packages for this platform must exist, except those for
 * a C library, which only npm can choose.
 */
function mayBeLeftOut({ optional, os, cpu, libc }) {
  const namesThis = os?.includes(process.platform) && cpu?.includes(process.arch) && libc === undefined;
  return Boolean(optional) && !namesThis;
}

function isInstalled() {
  return (existsSync(marker) && readFileSync(marker, "utf8") === lockHash()) || isAsLocked();
}

export function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function refuseForeign() {
  const folders = [root, join(root, "node_modules")].filter((path) => existsSync(path));
  const reason = isForRunningOnly()
    ? "the installation has no development packages"
    : folders.every(isWritable)
      ? undefined
      : "the folder is not writable";
  if (reason === undefined) return;
  throw new Error(
    `The packages in ${root} do not match package-lock.json and cannot be installed: ${reason}. ` +
      "Repeat the installation steps in deploy/README.md, including the marker.",
  );
}

export function setUp() {
  if (!isInstalled()) {
    refuseForeign();
    console.error("Installing packages (once, about a minute) …");
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const result = spawnSync(npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--progress=true"], {
      cwd: root,
      // npm's output goes to standard error; standard output belongs to the program.
      stdio: ["ignore", 2, 2],
    });
    if (result.status !== 0) throw new Error(`npm ci failed (exit code ${result.status ?? result.signal})`);
    writeFileSync(marker, lockHash());
  }
  return runtime();
}

/** Runs a command with Node 24 first on the PATH and resolves with its exit code; signals are passed on. */
export function run(command, args, { node, env = {}, cwd = root, isBuffered = false }) {
  return new Promise((resolve, reject) => {
    const output = [];
    const child = spawn(command, args, {
      cwd,
      stdio: isBuffered ? ["inherit", "pipe", "pipe"] : "inherit",
      env: {
        ...process.env,
        ...env,
        PATH: `${dirname(node)}:${join(root, "node_modules", ".bin")}:${process.env.PATH}`,
      },
    });
    const forward = (signal) => child.kill(signal);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, forward);
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => output.push(chunk));
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.stderr.write(Buffer.concat(output));
      resolve(code ?? (signal ? 1 : 0));
    });
  });
}

/**
 * Sets up, then runs the steps in order until one fails, `atOnce` at a time. The exit code is the first that is not 0. The
 * output of parallel steps appears when each ends.
 */
export async function main(steps, atOnce = 1) {
  try {
    const node = setUp();
    const queue = steps(node);
    let failure = 0;
    const work = async () => {
      while (queue.length > 0 && failure === 0) {
        const [command, ...args] = queue.shift();
        // Read after the wait: another step may have failed meanwhile.
        const code = await run(command, args, { node, isBuffered: atOnce > 1 });
        failure ||= code;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    process.exit(failure);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
