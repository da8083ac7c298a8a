/**
 * Whether the console's files in apps/console/dist are those of its sources, and what makes them so. Like set-up.mjs
 * without any import from a package, because an installation for running alone has no vite.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isWritable, root } from "./set-up.mjs";

export const consoleFolder = join(root, "apps", "console");
export const builtFolder = join(consoleFolder, "dist");
/** In the built folder: the stamp of the sources that it was built from. The server gives it to nobody. */
export const stampFile = ".sources";

const sources = ["apps/console", "packages/sdk/src", "packages/wire/src"];
const isOfBuild = (name) => !/^(node_modules|test|dist.*)$|\.test\.tsx?$/.test(name);

function filesBelow(folder) {
  return readdirSync(`${root}/${folder}`, { withFileTypes: true })
    .filter(({ name }) => isOfBuild(name))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(path) : [path];
    });
}

/** Of all that the build reads: by content, because a checkout changes times without changing anything. */
export function sourceStamp() {
  const paths = [...sources.flatMap(filesBelow), "package-lock.json"].sort();
  const contents = paths.map((path) => readFileSync(`${root}/${path}`));
  // Every start waits for this: one call for all of them takes half the time of one each.
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
  if (!existsSync(join(root, "node_modules", "vite"))) return "the packages for development are not installed";
  return isWritable(consoleFolder) ? undefined : `${consoleFolder} may not be written to`;
}

/** The commands that build it, none when it is; throws where it cannot be built. */
export function buildSteps(node) {
  if (isBuilt()) return [];
  const reason = whyNotHere();
  if (reason === undefined) return [[node, "scripts/build-console.mjs"]];
  throw new Error(
    `The console in ${builtFolder} is missing or older than its sources, and is not built now, because ${reason}: see deploy/README.md.`,
  );
}

/** For whoever can do without: a server serves all else. */
export function buildStepsWherePossible(node) {
  try {
    return buildSteps(node).map((command) => [...command, "--or-go-on"]);
  } catch (error) {
    console.error(error.message);
    return [];
  }
}
