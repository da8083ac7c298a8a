/**
 * Runs the benchmarks of `bench/` one after the other, all or the named ones: `npm run bench -- predict upload`. Each
 * compares within one run on this machine. Options go to each benchmark, and what follows a single name goes to it:
 * `npm run bench -- growth --write models`. Exits with 1 when one exceeds its budget.
 */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root, run, setUp } from "./set-up.mjs";

const known = readdirSync(join(root, "bench"))
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -".ts".length));
const options = process.argv.slice(2).filter((text) => text.startsWith("--"));
const names = process.argv.slice(2).filter((text) => !text.startsWith("--"));
const wanted = names.filter((name) => known.includes(name));
const others = names.filter((name) => !known.includes(name));
const unknown = wanted.length === 1 && wanted[0] === names[0] ? [] : others;
if (unknown.length > 0) {
  console.error(`Unknown benchmark ${unknown.join(", ")}. Known: ${known.join(", ")}`);
  process.exit(2);
}

try {
  const node = setUp();
  const failed = [];
  for (const name of wanted.length > 0 ? wanted : known) {
    console.log(`\n── ${name}`);
    if ((await run(node, [join("bench", `${name}.ts`), ...others, ...options], { node })) !== 0) failed.push(name);
  }
  if (failed.length > 0) console.error(`\nOver budget or failed: ${failed.join(", ")}`);
  process.exit(failed.length > 0 ? 1 : 0);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
