import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const read = (GANTRY_ALLOW_PRIVATE_NETWORK: string) =>
  readConfig({ GANTRY_ALLOW_PRIVATE_NETWORK }, "/there").GANTRY_ALLOW_PRIVATE_NETWORK;

test("private networks are all, none or a list", () => {
  expect(["1", "true", "0", "false", ""].map(read)).toEqual([true, true, false, false, false]);
  expect(read("127.0.0.1:8188, 10.20.0.0/16,gpu.lan:8000 [fd00::]/8,localhost,ollama:11434")).toHaveLength(6);
});

test("an entry that cannot be read is shown", () => {
  for (const entry of ["perhaps", "yes", "2", "10.0.0.0/40", "http://gpu.lan", "*", "*.lan", "gpu.lan:0", "10.0.0.*"]) {
    expect(() => read(`10.20.0.0/16, ${entry}`), entry).toThrow(
      /GANTRY_ALLOW_PRIVATE_NETWORK must be 1, 0, or host names, IP addresses and networks/,
    );
    expect(() => read(`10.20.0.0/16, ${entry}`)).toThrow(`not ${entry}`);
  }
});
