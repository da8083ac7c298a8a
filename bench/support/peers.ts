import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = fileURLToPath(new URL("../peers/", import.meta.url));

/** Installs the compared libraries once, from their own lock file. Returns false, with a message, on failure. */
export function installPeers(): boolean {
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return true;
  console.log("installing the peers (once)");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) console.log("SKIPPED: comparisons. The peers could not be installed");
  return status === 0;
}

/** Loads a library from the peers' folder. */
export const requirePeer = createRequire(new URL("../peers/package.json", import.meta.url));

/** Loads an ES module from the peers' folder, without types. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export function importPeer(name: string): Promise<any> {
  return import(pathToFileURL(requirePeer.resolve(name)).href);
}
