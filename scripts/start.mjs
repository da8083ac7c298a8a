import { join } from "node:path";
import { buildStepsWherePossible } from "./console-build.mjs";
import { main, root } from "./set-up.mjs";

// The same cache as main.ts uses, for modules that load before main.ts can enable it.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules", ".cache", "gantry");
// For glibc, see docs/decisions/0034-pictures-in-a-process.md.
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "262144", MALLOC_TRIM_THRESHOLD_: "262144" };
for (const [name, value] of Object.entries(allocator)) process.env[name] ??= value;

await main((node) => [...buildStepsWherePossible(node), [node, "apps/server/src/main.ts"]]);
