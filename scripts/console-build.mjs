/** Checks whether apps/console/dist is up to date. Imports no package: an installation without dev packages has no vite. */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isWritable, root } from "./set-up.mjs";

export const consoleFolder = join(root, "apps", "console");
export const builtFolder = join(consoleFolder, "dist");
/** Hash of the sources, kept in the built folder. The server does not serve it. */
export const stampFile = ".sources";

const sources = ["apps/console", "docs", "examples/agents", "packages/sdk/src", "packages/wire/src"];
const isOfBuild = (name) => !/^(node_modules|test|images|dist.*)$|\.test\.tsx?$/.test(name);

function filesBelow(folder) {
  return readdirSync(`${root}/${folder}`, { withFileTypes: true })
    .filter(({ name }) => isOfBuild(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

/** Hashes content, because a checkout changes file times. */
export function sourceStamp() {
  const paths = [...sources.flatMap(filesBelow), "package-lock.json"].sort();
  const contents = paths.map((path) => readFileSync(`${root}/${path}`));
  // Every start waits for this. One update for all files takes half the time of one each.
  return createHash("sha256")
    .update(JSON.stringify(paths.map((path, at) => [path, contents[at].length])))
    .update(Buffer.concat(contents))
    .digest("hex");
}

export function isBuilt() {
  const stamp = join(builtFolder, stampFile);
  return existsSync(stamp) && readFileSync(stamp, "utf8") === sourceStamp();
}

function whyNotHere() {
  if (!existsSync(join(root, "node_modules", "vite"))) return "development packages are not installed";
  return isWritable(consoleFolder) ? undefined : `${consoleFolder} is not writable`;
}

/** Commands that build the console, if it is out of date. */
export function buildSteps(node) {
  if (isBuilt()) return [];
  const reason = whyNotHere();
  if (reason === undefined) return [[node, "scripts/build-console.mjs"]];
  throw new Error(
    `The console in ${builtFolder} is missing or out of date and cannot be built because ${reason}. See deploy/README.md.`,
  );
}

/** Does not fail: a server can run without the console. */
export function buildStepsWherePossible(node) {
  try {
    return buildSteps(node).map((command) => [...command, "--or-go-on"]);
  } catch (error) {
    console.error(error.message);
    return [];
  }
}
