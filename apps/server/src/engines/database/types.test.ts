import { describe, expect, test } from "vitest";
import { parseArray } from "./types.ts";

const same = (text: string): string => text;

describe("arrays as PostgreSQL writes them", () => {
  test.each([
    ["{}", []],
    ["{a,b}", ["a", "b"]],
    ['{NULL,"NULL",""}', [null, "NULL", ""]],
    ['{"a,b","{c}","d\\"e","f\\\\g"}', ["a,b", "{c}", 'd"e', "f\\g"]],
    [
      "{{1,2},{3,NULL}}",
      [
        ["1", "2"],
        ["3", null],
      ],
    ],
    ["[0:1]={x,y}", ["x", "y"]],
    ['{"line\nbreak"}', ["line\nbreak"]],
  ])("%s", (text, values) => {
    expect(parseArray(text, same)).toEqual(values);
  });

  test("malformed arrays throw", () => {
    for (const text of ["", "x", "{", '{"a', "{a", "{{1}"]) expect(() => parseArray(text, same)).toThrow(SyntaxError);
  });
});
