import { expect, test } from "vitest";
import { cutResult } from "./cut-result.rules.ts";

const after = "\n\n[a note]";

test("what fits, with what is told after it, stays whole", () => {
  for (const text of ["", "short", "x".repeat(65_536), "ü".repeat(32_768), "😀".repeat(16_384)]) {
    expect(cutResult(text) === text).toBe(true);
  }
  const whole = "x".repeat(65_536 - after.length);
  expect(cutResult(whole, after) === whole + after).toBe(true);
});

test.each(["x", "ü", "€", "😀"])("what does not is cut between characters, and all of it fits: %s", (character) => {
  const size = Buffer.byteLength(character);
  for (const [bytes, told] of [
    [65_540, ""],
    [65_536, after],
    [5_000_000, after],
  ] as const) {
    // An odd beginning, so that the cut falls anywhere inside of a character.
    for (let odd = 0; odd < size; odd++) {
      const text = "-".repeat(odd) + character.repeat(Math.ceil(bytes / size));
      const result = cutResult(text, told);
      expect(Buffer.byteLength(result)).toBeLessThanOrEqual(65_536);
      expect(Buffer.byteLength(result)).toBeGreaterThan(65_520);
      const [, kept = "", more] = /^(.*)\n\[… cut: (\d+) bytes more\](?:\n\n\[a note\])?$/.exec(result) ?? [];
      expect(text.startsWith(kept)).toBe(true);
      expect(Buffer.byteLength(kept) + Number(more)).toBe(Buffer.byteLength(text));
      expect(result.endsWith(told)).toBe(true);
    }
  }
});
