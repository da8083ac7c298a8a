import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

/** The same load and faults each time; `npm run soak` chooses others. */
const shortSoak = ["bench/soak/soak.ts", "5", "20261118"];

/**
 * Tests that kill processes, start clusters, create load or drive a browser, then five minutes of soak; or the tests of the
 * given paths.
 */
const paths = process.argv.slice(2);
await main((node) => [
  ...buildSteps(node),
  ["vitest", "run", "--project=proof*", ...paths],
  ...(paths.length === 0 ? [[node, ...shortSoak]] : []),
]);
