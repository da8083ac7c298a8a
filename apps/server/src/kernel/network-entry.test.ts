import { describe, expect, it } from "vitest";
import { containsAddress, isNamed, parseNetworkEntry } from "./network-entry.ts";

const inside = (entry: string, address: string, port = 80) => {
  const parsed = parseNetworkEntry(entry);
  return parsed !== undefined && containsAddress(parsed, address, port);
};

describe("parseNetworkEntry", () => {
  it.each([
    ["127.0.0.1", "127.0.0.1", 80, true],
    ["127.0.0.1", "::ffff:127.0.0.1", 80, true],
    ["127.0.0.1", "127.0.0.2", 80, false],
    ["127.0.0.1:8188", "127.0.0.1", 8188, true],
    ["127.0.0.1:8188", "127.0.0.1", 8189, false],
    ["10.20.0.0/16", "10.20.255.1", 1, true],
    ["10.20.0.0/16", "10.21.0.1", 1, false],
    ["10.20.7.7/16:8000", "10.20.0.1", 8000, true],
    ["10.20.7.7/16:8000", "10.20.0.1", 8001, false],
    ["fd00::1", "fd00::1", 80, true],
    ["fd00::/8", "fd12::9", 80, true],
    ["[fd00::]/8", "fd12::9", 80, true],
    ["[fd00::/8]:443", "fd12::9", 443, true],
    ["[FD00::]/8:443", "fd12::9", 80, false],
    ["[::1]:8080", "::1", 8080, true],
    ["::/0", "fe80::1%eth0", 80, false],
    ["0.0.0.0/0", "10.0.0.1", 80, true],
    ["0.0.0.0/0", "::1", 80, false],
  ] as const)("%s contains %s port %i: %s", (entry, address, port, expected) => {
    expect(inside(entry, address, port)).toBe(expected);
  });

  it.each([
    ["gpu.lan", "gpu.lan", 1, true],
    ["gpu.lan", "GPU.lan.", 1, true],
    ["GPU.lan.:8000", "gpu.lan", 8000, true],
    ["gpu.lan:8000", "gpu.lan", 8001, false],
    ["gpu.lan", "a.gpu.lan", 1, false],
    ["gpu_1", "gpu_1", 1, true],
  ] as const)("%s names %s port %i: %s", (entry, host, port, expected) => {
    const parsed = parseNetworkEntry(entry);
    expect(parsed && isNamed(parsed, host, port)).toBe(expected);
  });

  it.each([
    ...["", "*", "10.0.0.0/33", "fd00::/129", "10.0.0.1:0", "10.0.0.1:65536", "gpu.lan/8", "http://gpu.lan", "a b"],
    ...[
      "127.1",
      "2130706433",
      "0x7f000001",
      "a.0x1",
      "[gpu.lan]:80",
      "[fd00::/8]/8",
      "[10.0.0.1]",
      "-a",
      "a:b",
      "ä.lan",
    ],
  ])("refuses %j", (text) => expect(parseNetworkEntry(text)).toBeUndefined());
});
