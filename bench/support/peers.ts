import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";

const folder = fileURLToPath(new URL("../peers/", import.meta.url));

/** Installs what the benchmarks compare with, once, from the lock file of its own. Says false, loudly, when it cannot. */
export function installPeers(): boolean {
  if (existsSync(`${folder}node_modules/.package-lock.json`)) return true;
  console.log("installing the peers (once)");
  const { status } = spawnSync("npm", ["ci", "--ignore-scripts"], { cwd: folder, stdio: "inherit" });
  if (status !== 0) console.log("THE PEERS COULD NOT BE INSTALLED: nothing is compared with them");
  return status === 0;
}

/** A library of the peers' folder. */
export const requirePeer = createRequire(new URL("../peers/package.json", import.meta.url));

/** A library of the peers' folder that is an ES module. Peers have types of their own, which nothing here needs. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export function importPeer(name: string): Promise<any> {
  return import(pathToFileURL(requirePeer.resolve(name)).href);
}
