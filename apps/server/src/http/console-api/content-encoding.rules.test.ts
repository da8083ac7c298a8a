import { expect, test } from "vitest";
import { chooseEncoding } from "./content-encoding.rules.ts";

test.each([
  [undefined, undefined],
  ["", undefined],
  ["identity", undefined],
  ["gzip, deflate, br, zstd", "br"],
  ["gzip, deflate", "gzip"],
  ["GZIP", "gzip"],
  ["br;q=0.5, gzip", "gzip"],
  ["br;q=0, gzip;q=0.1", "gzip"],
  ["br;q=0, gzip;q=0", undefined],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["*;q=0", undefined],
  ["brotli", undefined],
])("%j: %s", (accept, expected) => expect(chooseEncoding(accept)).toBe(expected));
