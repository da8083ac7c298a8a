import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

/** Tests that kill processes, start clusters, create load or drive a browser: all of them, or those of the given paths. */
await main((node) => [...buildSteps(node), ["vitest", "run", "--project=proof*", ...process.argv.slice(2)]]);
