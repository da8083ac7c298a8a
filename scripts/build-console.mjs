/** Builds the console, beside its place and then into it, so that nobody ever finds half of one. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { builtFolder, consoleFolder, isBuilt, sourceStamp, stampFile } from "./console-build.mjs";

const ownFolder = join(consoleFolder, `dist-${process.pid}`);
const replaced = `${ownFolder}-replaced`;

function putInPlace() {
  let isPut = false;
  // Another that was started at the same moment may have been faster, also between two of these lines. The sources may have
  // changed meanwhile: what was built is still newer than what was there.
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

/** A server serves all else without it. */
const canDoWithout = process.argv.includes("--or-go-on");

console.error("Building the console (once for these sources, some seconds) …");
// Whoever runs tests has set another, and would get what React checks while one works on it.
process.env.NODE_ENV = "production";
try {
  // Before it: what is changed meanwhile may not be in it.
  const stamp = sourceStamp();
  await build({ root: consoleFolder, logLevel: "warn", build: { outDir: ownFolder, emptyOutDir: true } });
  writeFileSync(join(ownFolder, stampFile), stamp);
  putInPlace();
} catch (error) {
  if (!canDoWithout) throw error;
  console.error("The console could not be built, all else is served:", error);
} finally {
  rmSync(ownFolder, { recursive: true, force: true });
}
