import { expect, it } from "vitest";
import { readNoProxy } from "./no-proxy.ts";

it.each<[list: string, host: string, port: number, isDirect: boolean]>([
  ["", "example.com", 443, false],
  ["*", "example.com", 443, true],
  ["a.test, *", "example.com", 443, true],
  ["example.com", "example.com", 443, true],
  ["example.com", "EXAMPLE.com.", 443, true],
  ["example.com", "api.example.com", 443, true],
  ["example.com", "badexample.com", 443, false],
  ["example.com", "example.com.evil.test", 443, false],
  [".example.com", "example.com", 443, true],
  [".example.com", "api.example.com", 443, true],
  ["*.example.com", "api.example.com", 443, true],
  ["example.com.", "example.com", 443, true],
  ["example.com:8443", "example.com", 8443, true],
  ["example.com:8443", "example.com", 443, false],
  [".example.com:8443", "api.example.com", 8443, true],
  ["one.test,two.test three.test\tfour.test", "three.test", 80, true],
  ["one.test,two.test three.test\tfour.test", "five.test", 80, false],
  ["localhost", "localhost", 80, true],
  ["192.0.2.7", "192.0.2.7", 80, true],
  ["192.0.2.7", "192.0.2.70", 80, false],
  ["192.0.2.7:80", "192.0.2.7", 81, false],
  ["192.0.2.0/24", "192.0.2.70", 80, true],
  ["192.0.2.0/24", "192.0.3.70", 80, false],
  ["2001:db8::1", "2001:db8::1", 80, true],
  ["[2001:db8::1]", "2001:db8::1", 80, true],
  ["[2001:db8::1]:8080", "2001:db8::1", 8080, true],
  ["[2001:db8::1]:8080", "2001:db8::1", 80, false],
  ["2001:db8::/32", "2001:db8:9::1", 80, true],
  ["2001:db8::/32", "2001:db9::1", 80, false],
  // A name that only contains an address is a name.
  ["2.7", "192.0.2.7", 80, false],
  ["192.168.*,http://x,example.com", "192.168.1.1", 80, false],
  ["192.168.*,http://x,example.com", "example.com", 80, true],
])("NO_PROXY=%s connects to %s port %i directly: %s", (list, host, port, isDirect) => {
  expect(readNoProxy(list)(host, port)).toBe(isDirect);
});
