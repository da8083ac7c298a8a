import { expect, test } from "vitest";
import { shareOf } from "./protocol.ts";
import { endsAll, restartDelayMs } from "./restart.rules.ts";

test.each([
  [64, 3, [22, 21, 21]],
  [4, 2, [2, 2]],
  [1, 3, [1, 0, 0]],
])("the parts of a limit of %i in %i processes are the limit", (limit, of, parts) => {
  expect(Array.from({ length: of }, (_, n) => shareOf(limit, n + 1, of))).toEqual(parts);
});

test("a process starts again at once, and later and later if it keeps failing", () => {
  expect([0, 1, 2, 3, 20].map(restartDelayMs)).toEqual([0, 250, 500, 1000, 30_000]);
  expect([1, 4, 5].map(endsAll)).toEqual([false, false, true]);
});
