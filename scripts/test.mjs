import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

const paths = process.argv.slice(2);

/**
 * Without arguments: the checks, then all tests except the proofs, which `npm run proof` runs. With paths: only those
 * test files, proofs included.
 */
await main((node) => [
  ...(paths.length === 0 ? [[node, "scripts/check.mjs"]] : []),
  ...buildSteps(node),
  ["vitest", "run", ...(paths.length === 0 ? ["--project=!proof*"] : paths)],
]);
