import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Makes things of 8 kB that live for 256 others, and prints how much of them grew old. */
const program = `
const { Ring } = await import("${fileURLToPath(new URL("./ring.ts", import.meta.url))}");
const { Register } = await import("${fileURLToPath(new URL("./register.ts", import.meta.url))}");
const [ring, register, set, line] = [new Ring(), new Register(), new Set(), []];
const ways = {
  ring: (thing) => { const place = ring.add(thing); return () => place.leave(); },
  register: (thing, id) => { register.set(id, thing); return () => register.delete(id); },
  set: (thing) => { set.add(thing); return () => set.delete(thing); },
};
const come = ways[process.argv[1]];
for (let n = 0; n < 60_000; n++) {
  line.push(come({ load: new Array(1000).fill(1.5) }, "id-" + n));
  if (line.length > 256) line.shift()();
}
`;

/** Megabytes that the small collections made old. */
function grownOld(way: string): number {
  const flags = ["--trace-gc", "--trace-gc-nvp", "--max-semi-space-size=16", "--input-type=module", "-e", program, way];
  const { stdout, stderr, status } = spawnSync(process.execPath, flags, { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
  const promoted = stdout.match(/gc=s .*/g)?.map((line) => Number(/ promoted=(\d+)/.exec(line)?.[1])) ?? [];
  expect(promoted.length).toBeGreaterThan(5);
  return promoted.reduce((sum, bytes) => sum + bytes, 0) / 1e6;
}

describe("things that come and go all the time", () => {
  it.each(["ring", "register"])("do not grow old in a %s", (way) => {
    expect(grownOld(way)).toBeLessThan(60);
  });

  it("do in a Set, or neither were needed", () => {
    expect(grownOld("set")).toBeGreaterThan(200);
  });
});
