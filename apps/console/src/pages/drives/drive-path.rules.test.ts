import type { DriveItem } from "@gantry/sdk";
import { describe, expect, it } from "vitest";
import { contentText, crumbsOf, folderFrom, folderOf, joined, nameOf, sorted } from "./drive-path.rules.ts";

const file = (path: string): DriveItem => ({ path, type: "file", size: 1 });
const folder = (path: string): DriveItem => ({ path, type: "directory" });

describe("drive path", () => {
  it("has a name and a folder", () => {
    expect([nameOf("/a/b.txt"), folderOf("/a/b.txt"), folderOf("/b.txt")]).toEqual(["b.txt", "/a", "/"]);
    expect([joined("/", "b.txt"), joined("/a", "b.txt")]).toEqual(["/b.txt", "/a/b.txt"]);
  });

  it("has a breadcrumb for each folder", () => {
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
  ])("%j is read as %s", (typed, path) => {
    expect(folderFrom(typed)).toBe(path);
  });
});

describe("folder content", () => {
  const items = [file("/10.txt"), folder("/z"), file("/9.txt"), folder("/a")];

  it("is sorted with folders first and numbers in numeric order", () => {
    expect(sorted(items).map(({ path }) => path)).toEqual(["/a", "/z", "/9.txt", "/10.txt"]);
  });

  it("is counted", () => {
    expect(contentText(items)).toBe("2 folders, 2 files");
    expect(contentText([file("/a")])).toBe("1 file");
    expect(contentText([])).toBe("");
  });
});
