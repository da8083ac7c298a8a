import { join } from "node:path";
import { buildStepsWherePossible } from "./console-build.mjs";
import { main, root } from "./set-up.mjs";

// Where main.ts keeps compiled modules too; given here it serves the modules that are loaded before main.ts can ask for it.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "gantry");

await main((node) => [...buildStepsWherePossible(node), [node, "apps/server/src/main.ts"]]);
