/**
 * Objects of 8 kB that are kept in a Ring, a Register and a Set until 256 more have been added: megabytes that minor
 * collections of V8 promote to the old generation (decision 0014). The Set shows the cost that the other two avoid.
 */
import { spawnSync } from "node:child_process";
import { median } from "./support/median.ts";
import { verdict } from "./support/verdict.ts";

const rounds = Number(process.argv[2] ?? 3);
const kernel = new URL("../apps/server/src/kernel/", import.meta.url);

const program = `
const { Ring } = await import("${new URL("ring.ts", kernel)}");
const { Register } = await import("${new URL("register.ts", kernel)}");
const [ring, register, set, line] = [new Ring(), new Register(), new Set(), []];
const ways = {
  ring: (item) => { const place = ring.add(item); return () => place.leave(); },
  register: (item, id) => { register.set(id, item); return () => register.delete(id); },
  set: (item) => { set.add(item); return () => set.delete(item); },
};
const add = ways[process.argv[1]];
for (let n = 0; n < 60_000; n++) {
  line.push(add({ load: new Array(1000).fill(1.5) }, "id-" + n));
  if (line.length > 256) line.shift()();
}
`;

function promotedMegabytes(way: string): number {
  const flags = ["--trace-gc", "--trace-gc-nvp", "--max-semi-space-size=16", "--input-type=module", "-e", program, way];
  const { stdout, stderr, status } = spawnSync(process.execPath, flags, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const promoted = stdout.match(/gc=s .*/g)?.map((line) => Number(/ promoted=(\d+)/.exec(line)?.[1])) ?? [];
  if (promoted.length < 5) throw new Error("there were too few collections for a valid figure");
  return promoted.reduce((sum, bytes) => sum + bytes, 0) / 1e6;
}

const figureOf = (way: string) => median(Array.from({ length: rounds }, () => promotedMegabytes(way)));

verdict("promoted from a Ring", figureOf("ring"), "at most", 60, " MB");
verdict("promoted from a Register", figureOf("register"), "at most", 60, " MB");
verdict("promoted from a Set", figureOf("set"), "at least", 200, " MB");
