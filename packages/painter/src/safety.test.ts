import { expect, test } from "vitest";
import { refusalOf } from "./safety.ts";

test.each([
  ["a nude figure", "sexual content"],
  ["NUDE", "sexual content"],
  ["p0rn on a wall", "sexual content"],
  ["n@ked people", "sexual content"],
  ["p o r n", "sexual content"],
  ["p.o.r.n", "sexual content"],
  ["pooooorn", "sexual content"],
  ["s\u0435x", "sexual content"], // a Cyrillic е
  ["po\u200brn", "sexual content"], // an invisible character
  ["\uFF53\uFF45\uFF58", "sexual content"], // full-width letters
  ["a beheading in the square", "gore"],
  ["a flag with a sw4stika", "hate"],
  ["how to kill myself", "self-harm"],
  ["self-harm", "self-harm"],
  ["sexy teen", "sexual content with minors"],
])("refuses %s", (prompt, reason) => {
  expect(refusalOf(prompt, true)).toBe(reason);
});

test.each([
  "a skilled carpenter in Essex",
  "Middlesex and Sussex at dawn",
  "grapes, cocktails and a therapist",
  "Scunthorpe under a blood moon",
  "an assassin bug, a peacock and a titmouse",
  "stars seen with the naked eye",
  "a same-sex couple on a bench",
  "a yellow rape field",
  "3 cats at 5 o'clock!",
  "a b c d e f g",
  "children play with a dog",
  "killing time at the harbour",
  "raptors over Nazaré",
  "",
])("accepts %s", (prompt) => {
  expect(refusalOf(prompt, true)).toBeUndefined();
});

test("without the checker only sexual content with minors is refused", () => {
  expect(refusalOf("a nude figure", false)).toBeUndefined();
  expect(refusalOf("a beheading", false)).toBeUndefined();
  expect(refusalOf("a naked child", false)).toBe("sexual content with minors");
  expect(refusalOf("ch1ld p0rn", false)).toBe("sexual content with minors");
});

test("a megabyte of any text is checked in linear time", () => {
  for (const piece of ["a.", "p o r ", "!!!!", "aaaa", "1|$ "]) {
    const before = performance.now();
    refusalOf(`a${piece.repeat(1_000_000 / piece.length)}`, true);
    expect(performance.now() - before).toBeLessThan(15_000);
  }
});
