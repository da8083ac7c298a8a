/** Builds the console into a new folder and then swaps it in, so that a server never sees half of a build. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { builtFolder, consoleFolder, isBuilt, sourceStamp, stampFile } from "./console-build.mjs";

const ownFolder = join(consoleFolder, `dist-${process.pid}`);
const replaced = `${ownFolder}-replaced`;

function putInPlace() {
  let isPut = false;
  // Another build may run at the same time and swap its result in between these lines.
  while (!isPut && !isBuilt()) {
    try {
      renameSync(builtFolder, replaced);
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
    try {
      renameSync(ownFolder, builtFolder);
      isPut = true;
    } catch (error) {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    } finally {
      rmSync(replaced, { recursive: true, force: true });
    }
  }
}

const canDoWithout = process.argv.includes("--or-go-on");

console.error("Building the console (a few seconds, once per change) …");
// Tests set another value, which would build React for development.
process.env.NODE_ENV = "production";
try {
  // Taken before the build: later changes are not in it.
  const stamp = sourceStamp();
  await build({ root: consoleFolder, logLevel: "warn", build: { outDir: ownFolder, emptyOutDir: true } });
  writeFileSync(join(ownFolder, stampFile), stamp);
  putInPlace();
} catch (error) {
  if (!canDoWithout) throw error;
  console.error("The console could not be built. The server starts without it:", error);
} finally {
  rmSync(ownFolder, { recursive: true, force: true });
}
