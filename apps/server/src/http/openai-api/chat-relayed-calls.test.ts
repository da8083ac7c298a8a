import { describe, expect, it } from "vitest";
import { RelayedCalls } from "./chat-relayed-calls.ts";

const tooMany = expect.objectContaining({ type: "downstream_service_error" });
const named = (n: number) => ({ index: 0, id: `call_${n}`, function: { name: "f" } });
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

describe("RelayedCalls", () => {
  it("relays up to 1,024 calls", () => {
    const calls = new RelayedCalls();
    expect(calls.repaired(numbers(1024).map(named)).map(({ index }) => index)).toEqual(numbers(1024));
    expect(calls.repaired([named(1023)])).toMatchObject([{ index: 1023 }]);
    expect(() => calls.repaired([named(1024)])).toThrow(tooMany);
    expect(calls.size).toBe(1024);
  });

  it("finds the last call with an index or id", () => {
    const calls = new RelayedCalls();
    const indexed = [4, 5, 4].map((index, n) => ({ index, id: `i${n}`, function: { name: "f" } }));
    calls.repaired([...indexed, { id: "a", function: { name: "f" } }, { id: "b", function: { name: "f" } }]);
    const indexOf = (part: object) => calls.repaired([{ ...part, function: { arguments: "{}" } }])[0]?.index;
    expect([{ index: 4 }, { index: 5 }, { id: "a" }, { id: "i1" }, {}].map(indexOf)).toEqual([2, 1, 3, 1, 4]);
  });
});
