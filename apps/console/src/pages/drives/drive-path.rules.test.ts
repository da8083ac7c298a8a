import type { DriveItem } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { contentWords, crumbsOf, folderFrom, folderOf, joined, nameOf, sorted } from "./drive-path.rules.ts";

const file = (path: string): DriveItem => ({ path, type: "file", size: 1 });
const folder = (path: string): DriveItem => ({ path, type: "directory" });

describe("a path in a drive", () => {
  it("has a name and a folder", () => {
    expect([nameOf("/a/b.txt"), folderOf("/a/b.txt"), folderOf("/b.txt")]).toEqual(["b.txt", "/a", "/"]);
    expect([joined("/", "b.txt"), joined("/a", "b.txt")]).toEqual(["/b.txt", "/a/b.txt"]);
  });

  it("has a crumb for each folder on the way", () => {
    expect(crumbsOf("/")).toEqual([]);
    expect(crumbsOf("/a/b c")).toEqual([
      { name: "a", path: "/a" },
      { name: "b c", path: "/a/b c" },
    ]);
  });

  it.each([
    ["", "/"],
    ["/", "/"],
    [" reports ", "/reports"],
    ["/reports//1907/", "/reports/1907"],
  ])("%j as typed is %s", (typed, path) => {
    expect(folderFrom(typed)).toBe(path);
  });
});

describe("what stands in a folder", () => {
  const items = [file("/10.txt"), folder("/z"), file("/9.txt"), folder("/a")];

  it("is sorted with folders first, and by number where names have one", () => {
    expect(sorted(items).map(({ path }) => path)).toEqual(["/a", "/z", "/9.txt", "/10.txt"]);
  });

  it("is counted in words", () => {
    expect(contentWords(items)).toBe("2 folders, 2 files");
    expect(contentWords([file("/a")])).toBe("1 file");
    expect(contentWords([])).toBe("");
  });
});
