import { join } from "node:path";
import { buildStepsWherePossible } from "./console-build.mjs";
import { main, root } from "./set-up.mjs";

// The same cache as main.ts uses, for modules that load before main.ts can enable it.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "gantry");

await main((node) => [...buildStepsWherePossible(node), [node, "apps/server/src/main.ts"]]);
