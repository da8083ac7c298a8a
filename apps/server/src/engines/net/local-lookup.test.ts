import type { LookupAddress } from "node:dns";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLocalLookup } from "./local-lookup.ts";

type End = (error: Error | null, found?: readonly LookupAddress[]) => void;

function scripted(patienceMs: number) {
  const asked: { host: string; end: End }[] = [];
  const lookup = createLocalLookup((host, _, end) => asked.push({ host, end }), patienceMs);
  const find = (host: string) => new Promise<readonly string[]>((resolve) => lookup(host, resolve));
  return { asked, find };
}

it("looks a name up once for all who wait for it, and again for the next", async () => {
  const { asked, find } = scripted(60_000);
  const both = Promise.all([find("a.test"), find("a.test")]);
  expect(asked).toHaveLength(1);
  asked[0]?.end(null, [{ address: "192.0.2.1", family: 4 }]);
  expect(await both).toEqual([["192.0.2.1"], ["192.0.2.1"]]);
  const next = find("a.test");
  asked[1]?.end(new Error("ENOTFOUND"));
  expect(await next).toEqual([]);
  void find("a.test");
  expect(asked).toHaveLength(3);
});

it("does not wait for a hanging lookup, nor start another one for that name", async () => {
  const { asked, find } = scripted(20);
  expect(await find("a.test")).toEqual([]);
  expect(await find("a.test")).toEqual([]);
  expect(asked).toHaveLength(1);
  asked[0]?.end(null, [{ address: "10.0.0.1", family: 4 }]);
  await sleep(0);
  const late = find("a.test");
  expect(asked).toHaveLength(2);
  asked[1]?.end(null, [{ address: "10.0.0.1", family: 4 }]);
  expect(await late).toEqual(["10.0.0.1"]);
});

it("does not look up literal addresses", async () => {
  const { asked, find } = scripted(20);
  expect(await find("::1")).toEqual(["::1"]);
  expect(asked).toEqual([]);
});
