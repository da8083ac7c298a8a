import { expect, test } from "vitest";
import { commands } from "./commands.ts";

/** They print lines of JSON, the bytes of a file, a log, or a script. */
const withoutJson = ["batches results", "drives cat", "serve", "completion"];

test("every command has examples and --json, except those that print something else", () => {
  const shown = commands.filter(({ hidden }) => !hidden);
  expect(shown.filter(({ options }) => options?.json?.type !== "flag").map(({ name }) => name)).toEqual(withoutJson);
  expect(shown.filter(({ examples }) => examples.length === 0)).toEqual([]);
});
