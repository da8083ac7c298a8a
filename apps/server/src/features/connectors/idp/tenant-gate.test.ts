import { expect, it } from "vitest";
import { TenantGate } from "./tenant-gate.ts";

const domain = "tenant.example.com";
const call = (gate: TenantGate, userId: string, waitMs = 5000, signal?: AbortSignal) =>
  gate.enter({ domain, userId }, waitMs, signal);

/** A gate whose two places are taken, with what frees them one after the other. */
async function fullGate() {
  const gate = new TenantGate();
  const leaving = [await call(gate, "first"), await call(gate, "first")];
  const admitted: string[] = [];
  const wait = (userId: string) =>
    call(gate, userId).then(
      (leave) => {
        admitted.push(userId);
        leaving.push(leave);
      },
      () => undefined, // still waiting when the test ends
    );
  const leaveOne = async () => {
    leaving.shift()?.();
    await new Promise(setImmediate);
  };
  return { gate, admitted, wait, leaveOne };
}

it("serves one call of each user before a second of any", async () => {
  const { admitted, wait, leaveOne } = await fullGate();
  for (let n = 0; n < 4; n++) void wait("many");
  void wait("one");
  void wait("two");
  void wait("two");
  for (let n = 0; n < 7; n++) await leaveOne();
  expect(admitted).toEqual(["many", "one", "two", "many", "two", "many", "many"]);
});

it("limits the waiting calls of one user only", async () => {
  const { gate, admitted, wait, leaveOne } = await fullGate();
  for (let n = 0; n < 64; n++) void wait("many");
  await expect(call(gate, "many")).rejects.toMatchObject({ type: "rate_limit" });
  void wait("other");
  await leaveOne();
  await leaveOne();
  expect(admitted).toEqual(["many", "other"]);
});

it("removes calls that stop waiting", async () => {
  const { gate, admitted, wait, leaveOne } = await fullGate();
  const leaving = new AbortController();
  const gone = call(gate, "gone", 5000, leaving.signal);
  void wait("other");
  leaving.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  await expect(call(gate, "late", 1)).rejects.toMatchObject({ type: "rate_limit" });
  await leaveOne();
  expect(admitted).toEqual(["other"]);
});

it("lets a user check a few tokens at a time", () => {
  const gate = new TenantGate();
  const ends = Array.from({ length: 4 }, () => gate.beginCheck("one"));
  expect(() => gate.beginCheck("one")).toThrow("Too many checks");
  gate.beginCheck("another")();
  ends[0]?.();
  gate.beginCheck("one")();
});
