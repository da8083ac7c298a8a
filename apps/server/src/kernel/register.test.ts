import { describe, expect, it } from "vitest";
import { Register } from "./register.ts";

describe("a register", () => {
  it("finds items by id", () => {
    const register = new Register<string>();
    register.set("a", "one");
    register.set("b", "two");
    register.set("a", "three");
    expect([register.get("a"), register.get("b"), register.get("c"), register.size]).toEqual([
      "three",
      "two",
      undefined,
      2,
    ]);
    register.delete("a");
    register.delete("a");
    expect([register.get("a"), register.ids(), register.all(), register.size]).toEqual([undefined, ["b"], ["two"], 1]);
  });
});
