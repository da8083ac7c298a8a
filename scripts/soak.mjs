import { main } from "./set-up.mjs";

/**
 * One installation under mixed load with injected faults, for an hour by default: `npm run soak -- [minutes] [seed]`. Ends
 * with PASS or FAIL; the same seed repeats the same load and the same faults. With `--storms`, repeats the storms of the
 * proofs instead.
 */
const args = process.argv.slice(2);
const isStorms = args[0] === "--storms";
await main((node) => [
  isStorms ? [node, "bench/soak/storms.ts", ...args.slice(1)] : [node, "bench/soak/soak.ts", ...args],
]);
