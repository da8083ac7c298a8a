/** See scripts/soak.mjs. */
import { createRandom } from "../../apps/server/test/proof/random.ts";
import { crashSoak } from "./crash.ts";
import { moneySoak } from "./money.ts";
import { runsSoak } from "./runs.ts";

const minutes = Number(process.argv[2] ?? 10);
const seed = Number(process.argv[3] ?? Math.floor(Math.random() * 2 ** 31));
if (!(minutes > 0) || !Number.isSafeInteger(seed)) throw new Error("npm run soak -- [minutes] [seed]");

const until = Date.now() + minutes * 60_000;
const random = createRandom(seed);
console.log(`soak for ${minutes} minutes, seed ${seed} (again: npm run soak -- ${minutes} ${seed})`);
let faults = 0;
for (let round = 1; faults === 0 && (round === 1 || Date.now() < until); round++) {
  for (const [name, soak] of Object.entries({ money: moneySoak, crash: crashSoak, runs: runsSoak })) {
    const own = random.between(1, 2 ** 31 - 1);
    console.log(`\n${name}, round ${round}, seed of the round ${own}`);
    const found = await soak(own, (line) => console.log(`  ${line}`));
    for (const fault of found) console.log(`  FAULT: ${fault}`);
    faults += found.length;
  }
}
console.log(faults === 0 ? "\nno faults" : `\n${faults} faults, seed ${seed}`);
process.exit(faults === 0 ? 0 : 1);
