import { describe, expect, it } from "vitest";
import { Ring } from "./ring.ts";

describe("a ring", () => {
  it("keeps the order of arrival when items leave", () => {
    const ring = new Ring<string>();
    const places = ["a", "b", "c", "d"].map((name) => ring.add(name));
    places[1]?.leave();
    expect([ring.all(), ring.size, ring.first]).toEqual([["a", "c", "d"], 3, "a"]);
    places[0]?.leave();
    ring.add("e");
    expect([ring.all(), ring.size, ring.first]).toEqual([["c", "d", "e"], 3, "c"]);
  });

  it("shifts the first item, or nothing if it is empty", () => {
    const ring = new Ring<number>();
    const place = ring.add(1);
    ring.add(2);
    expect([ring.shift(), ring.shift(), ring.shift(), ring.size, ring.first]).toEqual([1, 2, undefined, 0, undefined]);
    ring.add(3);
    place.leave();
    expect([ring.all(), ring.size]).toEqual([[3], 1]);
  });

  it("accepts the same item twice", () => {
    const ring = new Ring<string>();
    const first = ring.add("a");
    ring.add("a");
    first.leave();
    first.leave();
    expect([ring.all(), ring.size]).toEqual([["a"], 1]);
  });
});
