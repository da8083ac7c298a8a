import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

/** The tests that kill processes, start clusters or drive a browser: all of them, or those of the given paths. */
await main((node) => [...buildSteps(node), ["vitest", "run", "--project=proof*", ...process.argv.slice(2)]]);
