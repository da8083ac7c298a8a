import { main } from "./set-up.mjs";

/**
 * The proofs of money, of crashes and of agents' runs in their long form: `npm run soak -- [minutes] [seed]`. Without a seed one is drawn
 * and printed; with it, the same storms come again.
 */
await main((node) => [[node, "bench/soak/soak.ts", ...process.argv.slice(2)]]);
