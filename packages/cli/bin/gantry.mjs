#!/usr/bin/env node
/** Runs the command with the Node that Gantry brings, whatever Node started this file. */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildStepsWherePossible } from "../../../scripts/console-build.mjs";
import { run, setUp } from "../../../scripts/set-up.mjs";

try {
  const node = setUp();
  if (process.argv[2] === "serve") {
    for (const [command, ...args] of buildStepsWherePossible(node)) await run(command, args, { node });
  }
  const entry = join(fileURLToPath(new URL("..", import.meta.url)), "src", "main.ts");
  process.exit(await run(node, [entry, ...process.argv.slice(2)], { node, cwd: process.cwd() }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
