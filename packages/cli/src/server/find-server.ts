import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Failure } from "../frame/failure.ts";
import { readOwnVersion } from "../own-version.ts";
import { cacheFolder } from "./cache-folder.ts";

const packageName = "@gantry/server";
const unfinishedMark = ".unfinished-";
/** No installation takes this long: an older unfinished folder was left by a process that was killed. */
const longestInstallMs = 60 * 60_000;

/** Path of the server's entry, in the version of this command: beside the command, or in the user's cache. */
export async function findOrInstallServer(): Promise<string> {
  refusePlatform(process.platform);
  const version = readOwnVersion();
  const folder = join(cacheFolder(process.env), `server-${version}`);
  const find = async () => (await entryFrom(import.meta.url, version)) ?? (await entryFrom(join(folder, "x"), version));
  const found = await find();
  if (found !== undefined) return found;
  await install(version, folder);
  const installed = await find();
  if (installed === undefined) throw new Failure(`${folder} does not contain ${packageName} ${version}. Delete it.`);
  return installed;
}

function refusePlatform(platform: NodeJS.Platform): void {
  if (platform === "linux" || platform === "darwin") return;
  const advice = platform === "win32" ? " On Windows, use WSL or a container." : "";
  throw new Failure(`The Gantry server runs on Linux and macOS, not on ${platform}.${advice}`);
}

/** `importer` is a file whose imports would find the package. */
async function entryFrom(importer: string, version: string): Promise<string | undefined> {
  const { resolve } = createRequire(importer);
  try {
    const manifest = JSON.parse(await readFile(resolve(`${packageName}/package.json`), "utf8"));
    return manifest.version === version ? resolve(`${packageName}/operate`) : undefined;
  } catch {
    return undefined;
  }
}

/** Installs into a folder of its own, which gets its name when it is complete. Other processes may do the same. */
async function install(version: string, folder: string): Promise<void> {
  const cache = dirname(folder);
  console.error(`Installing ${packageName} ${version} into ${folder} (once, about a minute) …`);
  try {
    await mkdir(cache, { recursive: true });
    await removeLeftovers(cache);
    const unfinished = await mkdtemp(`${folder}${unfinishedMark}`);
    try {
      await runNpm(installArguments(version, unfinished));
      await rename(unfinished, folder).catch(async (error: NodeJS.ErrnoException) => {
        if (!["ENOTEMPTY", "EEXIST"].includes(error.code ?? "")) throw error;
        // Another process was faster, or the folder is from an installation that was damaged later.
        if ((await entryFrom(join(folder, "x"), version)) !== undefined) return;
        await rm(folder, { recursive: true, force: true });
        await rename(unfinished, folder);
      });
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
  } catch (error) {
    const byHand = `npm install --prefix ${folder} ${packageName}@${version}`;
    const reason = (error as Error).message.replace(/\.?$/, ".");
    throw new Failure(`${packageName} ${version} could not be installed: ${reason} Try again later, or run: ${byHand}`);
  }
}

const installArguments = (version: string, prefix: string): string[] => [
  "install",
  ...["--prefix", prefix, "--include=optional", "--omit=dev", "--global=false"],
  ...["--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"],
  `${packageName}@${version}`,
];

async function removeLeftovers(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    if (!name.includes(unfinishedMark)) continue;
    const path = join(cache, name);
    const found = await stat(path).catch(() => undefined);
    if (found && Date.now() - found.mtimeMs > longestInstallMs) await rm(path, { recursive: true, force: true });
  }
}

function runNpm(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const npm = spawn("npm", args, { stdio: ["ignore", "ignore", "pipe"] });
    const forward = (signal: NodeJS.Signals) => npm.kill(signal);
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    for (const signal of signals) process.once(signal, forward);
    let errors = "";
    npm.stderr.on("data", (chunk) => {
      errors += chunk;
    });
    npm.once("error", (error: NodeJS.ErrnoException) =>
      reject(error.code === "ENOENT" ? new Error("npm was not found on the PATH.") : error),
    );
    npm.once("close", (code, signal) => {
      for (const one of signals) process.off(one, forward);
      if (code === 0) resolve();
      else reject(new Error(reasonIn(errors) ?? `npm ended with ${signal ?? `exit code ${code}`}`));
    });
  });
}

/** The first line in which npm says more than a code. */
function reasonIn(errors: string): string | undefined {
  const lines = errors.split("\n").flatMap((line) => /^npm (?:error|ERR!) (.+)$/.exec(line)?.[1] ?? []);
  return lines.find((line) => !/^(code|errno|syscall|network This is|A complete log)/.test(line));
}
