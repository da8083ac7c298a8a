import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const checkout = fileURLToPath(new URL("../../../..", import.meta.url));

/** Builds the console once per test run. */
export default async function setup(): Promise<void> {
  await promisify(execFile)(process.execPath, ["scripts/build.mjs"], { cwd: checkout });
}
