/**
 * Prepares a checkout with only Node 20 or later and npm: installs the locked packages if they are missing or out of date,
 * and finds the Node 24 among them. An installation without development packages is left alone. Imports no package,
 * because none may be installed yet.
 */
import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const marker = join(root, "node_modules", ".gantry-installed");
/** npm writes this file when an installation is complete. */
const installedFile = join(root, "node_modules", ".package-lock.json");

function lockHash() {
  return createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
}

/** The Node that runs Gantry: from npm if the platform has a package, otherwise the machine's own if it is new enough. */
function runtime() {
  const brought = join(root, "node_modules", `node-${process.platform}-${process.arch}`, "bin", "node");
  if (existsSync(brought)) return brought;
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  throw new Error(
    `Gantry needs Node 24 or later; this is ${process.version}. npm has no Node for ${process.platform}-${process.arch}: install Node 24 and try again.`,
  );
}

function installedPackages() {
  if (!existsSync(installedFile)) return undefined;
  try {
    return JSON.parse(readFileSync(installedFile, "utf8")).packages;
  } catch {
    // npm was interrupted.
    return undefined;
  }
}

/** Installed with `npm ci --omit=dev`. */
function isForRunningOnly() {
  const installed = installedPackages();
  return installed !== undefined && !Object.values(installed).some(({ dev }) => dev);
}

/** After a plain `npm ci` the marker is missing, but the packages are exactly the locked ones. */
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

/** npm omits optional packages for other machines. Those for this platform must be there; npm chooses by C library. */
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
    ? "they were installed without development packages"
    : folders.every(isWritable)
      ? undefined
      : "the folder is not writable";
  if (reason === undefined) return;
  throw new Error(
    `The packages in ${root} do not match package-lock.json and cannot be installed because ${reason}. ` +
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
      // npm prints to standard error: standard output belongs to the program.
      stdio: ["ignore", 2, 2],
    });
    if (result.status !== 0) throw new Error(`npm ci failed (exit code ${result.status ?? result.signal})`);
    writeFileSync(marker, lockHash());
  }
  return runtime();
}

/** Runs a command with Node 24 first in PATH, forwards signals and resolves with the exit code. */
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

/** Sets up, then runs the steps until one fails, and exits with its code. */
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
