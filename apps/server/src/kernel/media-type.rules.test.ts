import { expect, test } from "vitest";
import { dispositionOf, parseMediaType } from "./media-type.rules.ts";

test.each([
  ["image/png", "image/png"],
  [" IMAGE/PNG ", "image/png"],
  ["image/png;", "image/png"],
  ["image/png; a=b; c=d", "image/png"],
  ["image/png; charset=utf-8", "image/png"],
  ["text/plain;charset=UTF-8", "text/plain; charset=utf-8"],
  ["text/plain ; x=y; charset=iso-8859-1 ; z", "text/plain; charset=iso-8859-1"],
  ["text/html; charset=<script>", "text/html"],
  ["application/vnd.a+json;v=1", "application/vnd.a+json"],
])("%j is stored as %j", (given, stored) => {
  expect(parseMediaType(given)).toBe(stored);
  expect(parseMediaType(stored)).toBe(stored);
});

test.each([
  "",
  "image",
  "image/",
  "/png",
  "image//png",
  "image/png/x",
  "image/png text/html",
  "image/png,text/html",
  "image/png;,text/html",
  "text/plain;x=1,text/html",
  'text/plain; charset="utf-8"',
  "text/plain; charset='utf-8'",
  "image/png\\",
  "image/png\r\nx: y",
  "image/png;\r\nx: y",
  "image/png\0",
  "image/p\u00ff",
  "*/*",
  "(comment)image/png",
  `a/${"b".repeat(126)}`,
])("%j is not a media type", (given) => {
  expect(parseMediaType(given)).toBeUndefined();
});

test("only types on the list are shown", () => {
  for (const shown of ["image/png", "video/mp4", "text/plain; charset=utf-8", "application/pdf", "application/json"]) {
    expect(dispositionOf(shown)).toBe("inline");
  }
  for (const other of ["image/svg+xml", "image/x+xml", "text/html", "text/xml", "text/css", "image/unknown"]) {
    expect(dispositionOf(other)).toBe("attachment");
  }
});
