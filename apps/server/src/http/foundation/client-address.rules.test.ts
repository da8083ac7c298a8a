import { BlockList } from "node:net";
import { describe, expect, it } from "vitest";
import { clientAddressOf } from "./client-address.rules.ts";

const range = new BlockList();
range.addSubnet("10.0.0.0", 8, "ipv4");
const trusted = [{ range }];

describe("the address of a client", () => {
  it("is that of the connection without a trusted proxy", () => {
    expect(clientAddressOf("::ffff:203.0.113.7", undefined, trusted)).toEqual({
      address: "203.0.113.7",
      isShared: false,
    });
    expect(clientAddressOf("203.0.113.7", "198.51.100.1", trusted)).toEqual({
      address: "203.0.113.7",
      isShared: false,
    });
    expect(clientAddressOf("127.0.0.1", undefined, [])).toEqual({ address: "127.0.0.1", isShared: false });
  });

  it("is shared behind a local proxy that is not trusted", () => {
    expect(clientAddressOf("127.0.0.1", "198.51.100.1", [])).toEqual({ address: "127.0.0.1", isShared: true });
    expect(clientAddressOf(undefined, undefined, [])).toEqual({ address: null, isShared: true });
  });

  it.each([
    ["198.51.100.1", "198.51.100.1"],
    // What the client has written itself is in front.
    ["1.2.3.4, 198.51.100.1", "198.51.100.1"],
    ["198.51.100.1, 10.9.9.9", "198.51.100.1"],
    ["[2001:db8::1]:4711", "2001:db8::1"],
    ["198.51.100.1:4711", "198.51.100.1"],
  ])("is the last one that is not of a trusted proxy: %s", (header, address) => {
    expect(clientAddressOf("10.0.0.1", header, trusted)).toEqual({ address, isShared: false });
  });

  it("is the proxy's if the proxy does not name another", () => {
    expect(clientAddressOf("10.0.0.1", "unknown", trusted)).toEqual({ address: "10.0.0.1", isShared: true });
  });
});
