import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

const paths = process.argv.slice(2);

/** Without arguments: the checks, then all tests except the proofs. With paths: only those test files, proofs included. */
await main((node) =>
  paths.length === 0
    ? [
        [node, "scripts/check.mjs", "--before-tests"],
        ["vitest", "run", "--project=!proof*"],
      ]
    : [...buildSteps(node), ["vitest", "run", ...paths]],
);
