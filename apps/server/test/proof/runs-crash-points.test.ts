import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import type { Breakpoint } from "./runs-breakpoints.ts";
import { type BreakReport, nameOf, startWalk, type Walk, walkAll } from "./runs-crash-points.ts";

let walk: Walk;

beforeAll(async () => {
  walk = await startWalk(inject("postgresUrl"), "gantry_template");
}, 60_000);
afterAll(() => walk.close(), 60_000);

const wrong = (report: BreakReport) => report.faults.map((fault) => `${nameOf(report.at)}: ${fault}`);

/** Each point needs a server process and ten seconds until its death is detected. `npm run soak -- --storms` covers all points. */
const tried = 10;
const atOnce = 4;

describe("an unfinished run", () => {
  test("survives kill -9 at any of its writes: no step twice, events without a gap, money counted once", async () => {
    const { breakpoints } = walk;
    const kinds = new Set(breakpoints.map((point) => point.kind));
    expect([...kinds].sort()).toEqual(["admission", "child", "claim", "settlement", "write"]);
    const stride = breakpoints.length / tried;
    const chosen = Array.from({ length: tried }, (_, i) => breakpoints[Math.floor(i * stride)]).filter((one) => !!one);
    const reports = await walkAll(walk.kill, chosen, atOnce);
    expect(reports.flatMap(wrong)).toEqual([]);
    expect(reports.length).toBe(chosen.length);
    // Ten seconds until the death is detected, and the start of the other server, which is slow on a busy machine.
    for (const { takenOverMs } of reports) expect(takenOverMs ?? 0).toBeLessThan(30_000);
  }, 180_000);

  test("is not changed by a server that stalls, is declared dead and resumes", async () => {
    const points: Breakpoint[] = [
      // The first admission and the first claim are part of creating the run.
      { kind: "admission", k: 2, side: "before" },
      { kind: "settlement", k: 2, side: "before" },
      { kind: "write", k: 4, side: "before" },
      { kind: "child", k: 2, side: "after" },
    ];
    const reports = await walkAll(walk.sleep, points, atOnce);
    expect(reports.flatMap(wrong)).toEqual([]);
  }, 180_000);

  test("survives a database outage of twenty seconds without duplicates", async () => {
    const points: Breakpoint[] = [
      { kind: "admission", k: 3, side: "after" },
      { kind: "settlement", k: 2, side: "before" },
      { kind: "write", k: 3, side: "after" },
      { kind: "child", k: 2, side: "after" },
    ];
    const reports = await walkAll((at) => walk.away(at, 20_000), points, atOnce);
    expect(reports.flatMap(wrong)).toEqual([]);
  }, 180_000);

  test("does everything once although the answer to every write is lost: repeated writes are recognised", async () => {
    expect(await walk.loseEveryAnswer()).toEqual([]);
  }, 120_000);
});
