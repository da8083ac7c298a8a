import { expect, test, vi } from "vitest";
import type { DriveSearch } from "../../knowledge/search/index.ts";
import { RunStopped } from "../work/stopped.ts";
import { driveSearchTool } from "./drive-search.ts";
import { builtinTool, execute, scopeOf } from "./run-scope.fixture.ts";

test.each([
  ["shutdown", true],
  ["lost", true],
  ["cancelled", false],
  ["timeout", false],
] as const)("whether another node repeats a search after %s: %s", async (reason, isRepeated) => {
  const search = vi.fn(async (_: Parameters<DriveSearch["search"]>[0]) => ({ results: [], isComplete: true }));
  const driveSearch = { search, mostCost: async () => 0 } as unknown as DriveSearch;
  const scope = scopeOf("usr_1", { snapshot: { drives: ["drv_1"] } });
  const stopping = new AbortController();
  await execute(driveSearchTool(builtinTool("drive_search"), { driveSearch }, scope), { query: "a" }, stopping.signal);
  stopping.abort(new RunStopped(reason));
  expect(search.mock.calls[0]?.[0].isHandedOn?.()).toBe(isRepeated);
});
