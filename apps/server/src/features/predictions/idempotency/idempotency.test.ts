import { expect, test } from "vitest";
import { compareWithFirst, keptFingerprint } from "./idempotency.ts";

const own = keptFingerprint("sync", "aa");

test("a request is a repeat with the same form on the same route", () => {
  expect(compareWithFirst(own, own)).toBe("same");
  expect(compareWithFirst(own, keptFingerprint("sync", "bb"))).toBe("other_input");
  expect(compareWithFirst(own, keptFingerprint("async", "aa"))).toBe("other_route");
});

test("an older fingerprint is compared by its route only", () => {
  expect(compareWithFirst(own, "sync:aa")).toBe("same");
  expect(compareWithFirst(own, "sync:bb")).toBe("same");
  expect(compareWithFirst(own, "async:aa")).toBe("other_route");
});
