/**
 * Brings a checkout to the state in which its commands can run, with nothing but the machine's own Node (20 or later)
 * and npm: installs the locked packages when they are missing or others than the lock file names, and finds the Node 24 that
 * comes with them. An installation that somebody else made, to be run and not to be worked on, is left as it is. Plain
 * JavaScript without any import from a package, because nothing may be installed yet.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const marker = join(root, "node_modules", ".gantry-installed");
/** Where npm writes down what it has installed, once all of it is there. */
const installedFile = join(root, "node_modules", ".package-lock.json");

function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** The Node that runs Gantry: the one from npm where the platform has it, else the machine's own if it is new enough. */
function runtime() {
  const brought = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(brought)) return brought;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  throw new Error(
    `Gantry runs on Node 24 or later. npm has no Node for ${process.platform}-${process.arch}, and this is ${process.version}: install Node 24 and try again.`,
  );
}

/** By their places; undefined when nothing is installed. */
function installedPackages() {
  if (!existsSync(installedFile)) return undefined;
  try {
    return JSON.parse(readFileSync(installedFile, "utf8")).packages;
  } catch {
    // Whoever wrote it was cut off.
    return undefined;
  }
}

/** Made with `npm ci --omit=dev`: nothing of what is installed is for development. */
function isForRunningOnly() {
  const installed = installedPackages();
  return installed !== undefined && !Object.values(installed).some(({ dev }) => dev);
}

/** Whoever ran `npm ci` here themselves has left no marker, but exactly the locked packages. */
function isAsLocked() {
  const installed = installedPackages();
  if (installed === undefined) return false;
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const isSame = (a, b) => a.version === b.version && a.integrity === b.integrity && a.resolved === b.resolved;
  return (
    Object.keys(installed).every((place) => place in packages) &&
    Object.entries(packages).every(([place, locked]) => {
      if (place === "") return true;
      return place in installed ? isSame(installed[place], locked) : mayBeLeftOut(locked);
    })
  );
}

/**
 * npm leaves out what is for other machines, and what only that needs. What names this one must be there; of those for a
 * C library it is npm that knows which one is right.
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
    ? "they were installed without those for development"
    : folders.every(isWritable)
      ? undefined
      : "that folder may not be written to";
  if (reason === undefined) return;
  throw new Error(
    `The packages in ${root} are not marked as those of its package-lock.json, and none are installed now, because ${reason}. ` +
      "Whoever made this installation repeats its steps in deploy/README.md, the marker included.",
  );
}

export function setUp() {
  if (!isInstalled()) {
    refuseForeign();
    console.error("Installing packages (once, about a minute) …");
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const result = spawnSync(npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--progress=true"], {
      cwd: root,
      // npm's own words go to standard error, so that standard output stays the program's.
      stdio: ["ignore", 2, 2],
    });
    if (result.status !== 0) throw new Error(`npm ci failed (exit code ${result.status ?? result.signal})`);
    writeFileSync(marker, lockHash());
  }
  return runtime();
}

/** Runs a command with Node 24 first on the PATH and resolves with its exit code; signals are passed on. */
export function run(command, args, { node, env = {}, cwd = root }) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      stdio: "inherit",
      env: {
        ...process.env,
        ...env,
        PATH: `${dirname(node)}:${join(root, "node_modules", ".bin")}:${process.env.PATH}`,
      },
    });
    const forward = (signal) => child.kill(signal);
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, forward);
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
}

/** Sets up, then runs the given steps in turn until one fails; the exit code is the first that is not 0. */
export async function main(steps) {
  try {
    const node = setUp();
    for (const [command, ...args] of steps(node)) {
      const code = await run(command, args, { node });
      if (code !== 0) process.exit(code);
    }
    process.exit(0);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
