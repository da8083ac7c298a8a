import { expect, test } from "vitest";
import { secureAddress } from "./secure-address.ts";

test.each(["https://a.example/\0", "https://a.example/\ud800", "https://a.example/\n", "https://me@a.example", "no"])(
  "%j is not valid",
  (text) => {
    expect(() => secureAddress(text, "The address")).toThrow("The address is not a valid URL");
  },
);
