import { expect, test } from "vitest";
import { fuse, spread } from "./fuse.rules.ts";

const list = (...ids: number[]) => ids.map((id, at) => ({ id, score: 100 - at }));

test("Ranks what both lists contain before what only one contains", () => {
  expect(fuse([list(1, 2, 3), list(4, 3, 5)]).map(({ id }) => id)).toEqual([3, 1, 4, 2, 5]);
  expect(fuse([list(1, 2), []]).map(({ id }) => id)).toEqual([1, 2]);
});

test("Takes at most three chunks of a file and no text twice, unless there are too few", () => {
  const chunk = (path: string, text: string) => ({ path, text });
  const [a1, a2, a3, a4] = ["1", "2", "3", "4"].map((text) => chunk("/a", text)) as [never, never, never, never];
  const [copy, other] = [chunk("/b", "1"), chunk("/c", "5")];
  const all = [a1, a2, a3, a4, copy, other];
  expect(spread(all, 4)).toEqual([a1, a2, a3, other]);
  expect(spread(all, 5)).toEqual([a1, a2, a3, a4, other]);
  expect(spread(all, 10)).toEqual(all);
});
