import { main } from "./set-up.mjs";

/**
 * The long form of the proofs of money, crashes and agent runs: `npm run soak -- [minutes] [seed]`. Prints its seed;
 * the same seed repeats the same storms.
 */
await main((node) => [[node, "bench/soak/soak.ts", ...process.argv.slice(2)]]);
