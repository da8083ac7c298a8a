/**
 * Builds the npm packages into `dist/packages` and packs them as tarballs into `dist`. Names and versions come from the
 * root package.json; `--scope`, `--version` and `--out` choose others.
 */
import { buildSteps } from "./console-build.mjs";
import { main } from "./set-up.mjs";

await main((node) => [...buildSteps(node), [node, "scripts/pack-packages.mjs", ...process.argv.slice(2)]]);
