import { describe, expect, test } from "vitest";
import { Fault } from "../../kernel/errors.ts";
import {
  ancestorsOf,
  directoryPath,
  filePath,
  maxNameBytes,
  maxPathBytes,
  nameOf,
  parentOf,
  treePath,
} from "./path.rules.ts";

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
  throw new Error("nothing was refused");
};

describe("a normalised path", () => {
  test.each([
    ["/a", "/a"],
    ["a", "/a"],
    ["a/b.txt", "/a/b.txt"],
    ["/./a/./b", "/a/b"],
    ["/a/.", "/a"],
    ["/ space /two  blanks.txt", "/ space /two  blanks.txt"],
    ["/...", "/..."],
    ["/..a/b..", "/..a/b.."],
    ["/.hidden", "/.hidden"],
    ["/back\\..\\slash", "/back\\..\\slash"],
    ["/%2e%2e/%2F", "/%2e%2e/%2F"],
    ["/line\nbreak\t", "/line\nbreak\t"],
    ["/日本/😀.png", "/日本/😀.png"],
    ["/cafe\u0301", "/caf\u00e9"],
    // Looks like a slash or dots in a compatible form only, which is another character.
    ["/\u2024\u2024/\uff0f\u2215", "/\u2024\u2024/\uff0f\u2215"],
  ])("%j is %j", (given, path) => {
    expect(filePath(given)).toBe(path);
    expect(directoryPath(given)).toBe(path);
    expect(directoryPath(`${given}/`)).toBe(path);
  });

  test("the root is a directory, not a file", () => {
    for (const root of ["", "/", ".", "/.", "./."]) {
      expect(directoryPath(root)).toBe("/");
      expect(refusal(() => filePath(root, ["body", "path"])).issues[0].loc).toEqual(["body", "path"]);
    }
  });

  test("the root of a tree must be given as /", () => {
    expect(treePath("/")).toBe("/");
    expect(treePath("a/./b/")).toBe("/a/b");
    for (const given of ["", ".", "./", "/.", "./.", "/./"]) {
      const { issues } = refusal(() => treePath(given, ["path", "path"], "%2F"));
      expect(issues[0], given).toMatchObject({ type: "value_error", loc: ["path", "path"] });
      expect(issues[0].msg).toMatch(/Use %2F for the whole drive\.$/);
    }
    expect(refusal(() => treePath("..")).type).toBe("value_error");
  });

  test.each([
    "/a//b",
    "//a",
    "//",
    "///",
    "/a//",
    "..",
    "/..",
    "/a/..",
    "/a/../b",
    "../../etc/passwd",
    "/a/b/../../..",
    "/nul\0",
    "\0",
    "/half\ud800",
    "/\udc00/x",
    "./../a",
  ])("%j is refused", (given) => {
    for (const parse of [filePath, directoryPath]) {
      const { issues } = refusal(() => parse(given, ["query", "path"]));
      expect(issues[0]).toMatchObject({ type: "value_error", loc: ["query", "path"] });
    }
  });

  test("a slash at the end of a file's path is refused", () => {
    expect(refusal(() => filePath("/a/")).type).toBe("value_error");
  });

  test("lengths count in bytes of the composed form", () => {
    const name = "é".repeat(127);
    expect(filePath(`/${name}x`)).toBe(`/${name}x`);
    expect(filePath(`/${name.normalize("NFD")}`)).toBe(`/${name}`);
    expect(refusal(() => filePath(`/${name}é`)).issues[0]).toMatchObject({
      type: "string_too_long",
      ctx: { max_length: maxNameBytes },
    });
    const longest = `/${"a".repeat(255)}`.repeat(4);
    expect(Buffer.byteLength(longest)).toBe(maxPathBytes);
    expect(filePath(longest)).toBe(longest);
    expect(refusal(() => filePath(`${longest.slice(0, -2)}/bc`)).issues[0]).not.toHaveProperty("ctx.max_length", 255);
    expect(refusal(() => filePath(`/x${longest}`)).issues[0]).toMatchObject({ ctx: { max_length: maxPathBytes } });
    expect(refusal(() => filePath("/".padEnd(1_000_000, "./"))).type).toBe("string_too_long");
  });
});

/** The same numbers each run: a failure can be looked at again. */
function randomness(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe("any text", () => {
  const pieces = [
    "/",
    "/",
    "/",
    ".",
    "..",
    "a",
    "b",
    "%2F",
    "%2e",
    "\\",
    "\0",
    " ",
    "\n",
    "é",
    "e\u0301",
    "日",
    "😀",
    "\ud800",
    "\udc00",
    "\u1e9b\u0323",
    "\u212b",
    "\uff0f",
    "\u202e",
    "x".repeat(200),
    "'",
    '"',
    "*",
    "?",
    "#",
    ";",
    "$",
    "~",
    "C:",
    "0",
    "-",
  ];
  const random = randomness(20_260_101);
  const given = () => Array.from({ length: random(12) }, () => pieces[random(pieces.length)]).join("");
  const samples = Array.from({ length: 5000 }, given);

  test("is refused or becomes a path that is its own normal form", () => {
    let taken = 0;
    for (const sample of samples) {
      for (const parse of [filePath, directoryPath]) {
        let path: string;
        try {
          path = parse(sample);
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          continue;
        }
        taken++;
        expect(parse(path)).toBe(path);
        expect(path).toMatch(/^\//);
        expect(path.normalize("NFC")).toBe(path);
        expect(Buffer.from(path).toString()).toBe(path);
        expect(Buffer.byteLength(path)).toBeLessThanOrEqual(maxPathBytes);
        const names = path === "/" ? [] : path.slice(1).split("/");
        for (const name of names) {
          expect(["", ".", ".."]).not.toContain(name);
          expect(name).not.toContain("\0");
          expect(Buffer.byteLength(name)).toBeLessThanOrEqual(maxNameBytes);
        }
        // Two spellings that a file system would resolve to one place are one path here.
        expect(new URL(`file://${path.split("/").map(encodeURIComponent).join("/")}`).pathname).toBe(
          path.split("/").map(encodeURIComponent).join("/").replaceAll("%7E", "~"),
        );
      }
    }
    expect(taken).toBeGreaterThan(1000);
  });

  test("has ancestors from the root to its parent", () => {
    for (const sample of samples) {
      let path: string;
      try {
        path = filePath(sample);
      } catch {
        continue;
      }
      const chain = [...ancestorsOf(path), path];
      chain.forEach((step, index) => {
        expect(parentOf(step)).toBe(index === 0 ? "/" : chain[index - 1]);
      });
      expect(parentOf(path) === "/" ? `/${nameOf(path)}` : `${parentOf(path)}/${nameOf(path)}`).toBe(path);
    }
  });
});
