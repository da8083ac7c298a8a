import { describe, expect, test } from "vitest";
import { drivePlaceOf, inDirectory, localTarget, placeOf } from "./places.rules.ts";

describe("places", () => {
  test.each([
    ["report.pdf", { kind: "local", path: "report.pdf" }],
    ["./a:b", { kind: "local", path: "./a:b" }],
    ["/abs/a:b", { kind: "local", path: "/abs/a:b" }],
    [":x", { kind: "local", path: ":x" }],
    ["my drive:", { kind: "drive", drive: "my drive", path: "/", isDirectory: true }],
    ["d:a/./b//c", { kind: "drive", drive: "d", path: "/a/b/c", isDirectory: false }],
    ["d:/a/", { kind: "drive", drive: "d", path: "/a", isDirectory: true }],
    ["d:a:b", { kind: "drive", drive: "d", path: "/a:b", isDirectory: false }],
  ])("%s", (text, place) => {
    expect(placeOf(text)).toEqual(place);
  });

  test("a drive alone is its root, and .. is refused", () => {
    expect(drivePlaceOf("d")).toEqual({ kind: "drive", drive: "d", path: "/", isDirectory: true });
    expect(() => placeOf("d:/a/../b")).toThrow('must not contain ".."');
    expect(inDirectory("/", "a")).toBe("/a");
    expect(inDirectory("/a", "b/c")).toBe("/a/b/c");
  });
});

describe("the local file for a file of a drive", () => {
  test("is below the folder", () => {
    expect(localTarget("out", "/docs", "/docs/a/b.txt")).toBe("out/a/b.txt");
    expect(localTarget("/", "/", "/a")).toBe("/a");
    expect(localTarget(".", "/", "/back\\slash")).toBe("back\\slash");
  });

  test.each([
    ["/docs", "/docs/../../etc/passwd"],
    ["/docs", "/docs/a/../../b"],
    ["/docs", "/docs/.."],
    ["/docs", "/docs/."],
    ["/docs", "/docs/"],
    ["/docs", "/docs"],
    ["/docs", "/docs//etc/passwd"],
    ["/docs", "/docs2/a"],
    ["/docs", "/etc/passwd"],
    ["/docs", "docs/a"],
    ["/docs", "/docs/a\0b"],
    ["/", "//etc/passwd"],
    ["/", "../a"],
    ["/", ""],
  ])("in %j cannot be %j", (directory, path) => {
    expect(() => localTarget("out", directory, path)).toThrow("is not a safe name");
  });
});
