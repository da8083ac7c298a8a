import { main } from "./set-up.mjs";

const only = process.argv.slice(2);

await main((node) => [...(only.length === 0 ? [[node, "scripts/check.mjs"]] : []), ["vitest", "run", ...only]]);
