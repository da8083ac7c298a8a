import { backendsOf, type Manifest } from "@gantry/wire";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Net } from "../engines/net/net.ts";
import type { Model } from "../features/models/index.ts";
import { openDrivers } from "./drivers.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

function open(more: object) {
  const stored = new Map([
    ["key", "k-1"],
    ["gate", "g-1"],
    ["plan", "p-1"],
  ]);
  const backend = { type: "openai-chat", url: "http://llm.internal/v1", model: "m", ...more };
  const fields = { type: "object", properties: {} };
  const manifest = { kind: "text", input: fields, output: fields, backend } as unknown as Manifest;
  const model = { owner: "ann", ownerId: "usr_1", endpointId: "ann/m", manifest } as Model;
  let asked = 0;
  const read = async (name: string) => {
    asked++;
    return stored.get(name);
  };
  const drivers = openDrivers({
    // Nothing is called.
    netOf: () => ({}) as Net,
    secretsOf: () => ({ key: read, stored: read }),
    spoolFolder: "",
    builtins: {},
  });
  const [listed] = backendsOf(manifest);
  return { stored, asked: () => asked, of: (callerId = "usr_1") => drivers.of(model, listed, callerId) };
}

const texts = { headers: { "x-gate": "{{secret:gate}} {{secret:plan}}" }, query: { plan: "{{secret:plan}}" } };

test("a driver is kept while its secrets stay the same, so that it keeps what it has learned", async () => {
  const { of, asked } = open({ secret: "key", ...texts });
  const driver = await of();
  expect(asked()).toBe(3);
  expect(await of()).toBe(driver);
  expect(asked()).toBe(3);
  vi.advanceTimersByTime(5_001);
  expect(await of()).toBe(driver);
  expect(asked()).toBe(6);
});

test.each(["key", "gate", "plan"])("a changed secret (%s) takes effect after 5 seconds", async (name) => {
  const { of, stored } = open({ secret: "key", ...texts });
  const driver = await of();
  stored.set(name, "changed");
  vi.advanceTimersByTime(4_000);
  expect(await of()).toBe(driver);
  vi.advanceTimersByTime(1_001);
  const changed = await of();
  expect(changed).not.toBe(driver);
  stored.delete(name);
  vi.advanceTimersByTime(5_001);
  await expect(of()).rejects.toThrow(`The secret "${name}" named in the manifest does not exist.`);
  await expect(of("usr_2")).rejects.toThrow("The secret named in the manifest does not exist. The model's owner");
});

test("a backend without secrets is opened once", async () => {
  const { of, asked } = open({ headers: { "x-title": "Gantry" } });
  const driver = await of();
  vi.advanceTimersByTime(3_600_000);
  expect(await of()).toBe(driver);
  expect(asked()).toBe(0);
});
