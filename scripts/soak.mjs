import { main } from "./set-up.mjs";

/**
 * Long proofs of money, crashes and agent runs: `npm run soak -- [minutes] [seed]`. A random seed is printed; the same
 * seed repeats the same storms.
 */
await main((node) => [[node, "bench/soak/soak.ts", ...process.argv.slice(2)]]);
