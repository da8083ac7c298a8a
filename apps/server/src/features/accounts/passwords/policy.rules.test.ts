import { describe, expect, it } from "vitest";
import { passwordProblem } from "./policy.rules.ts";

describe("a new password", () => {
  it.each(["a walk in the rain", "Zw3i-und-zwanzig", "ünïcödé wörter", "x7x7x7Q!pz", "999999999abc-"])(
    "accepts %s",
    (password) => {
      expect(passwordProblem(password, "anna", 10)).toBeUndefined();
    },
  );

  it.each([
    ["short", /at least 10 characters/],
    ["x".repeat(9), /at least 10 characters/],
    // Nine characters in eighteen code units.
    ["😀😁😂😃😄😅😆😇😈", /at least 10 characters/],
    [`abcd${"ü".repeat(511)}`, /at most 1024 bytes/],
    ["abababababab", /different characters/],
    ["annaannaannaanna-", /different characters/],
    ["Correct-Horse-Battery-Staple", /too common/],
    ["Password2026!", /too common/],
    ["ＰＡＳＳＷＯＲＤ2026", /too common/],
    ["0987654321", /too common/],
    ["qwertyuiop", /too common/],
  ])("refuses %s", (password, problem) => {
    expect(passwordProblem(password, "anna", 10)).toMatch(problem);
  });

  it.each(["marie-luise", "Marie-Luise", "marie-luise2026!", "marie-luisemarie-luise"])(
    "refuses the username: %s",
    (password) => {
      expect(passwordProblem(password, "marie-luise", 10)).toMatch(/username/);
    },
  );
});
