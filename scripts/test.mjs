import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

const only = process.argv.slice(2);

await main((node) => [
  ...(only.length === 0 ? [[node, "scripts/check.mjs"]] : []),
  ...buildSteps(node),
  ["vitest", "run", ...only],
]);
