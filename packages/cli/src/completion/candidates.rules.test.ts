import { expect, test } from "vitest";
import { commands } from "../commands.ts";
import { wantedAt, wordsOf } from "./candidates.rules.ts";

const at = (line: string) => {
  const wanted = wantedAt(commands, wordsOf(line).slice(1));
  return wanted.kind === "candidates" ? wanted.candidates.map(({ value }) => value) : wanted;
};

test("names, options and choices are completed from the rows", () => {
  expect(at("gantry predict")).toEqual(["predict", "predictions"]);
  expect(at("gantry models ")).toEqual(expect.arrayContaining(["list", "show", "connect", "put"]));
  expect(at("gantry help models t")).toEqual(["test"]);
  expect(at("gantry __")).toEqual([]);
  expect(at("gantry usage --b")).toEqual(["--by"]);
  expect(at("gantry usage --by ")).toEqual(["model", "key", "mode", "status", "day"]);
  expect(at("gantry usage --by=d")).toEqual(["--by=day"]);
  // An option that was given is not offered again, unless it may be repeated.
  expect(at("gantry keys create --model a/b --expires 1d --")).not.toContain("--expires");
  expect(at("gantry keys create --model a/b --expires 1d --")).toContain("--model");
});

test("values that others know are asked for with the words before them", () => {
  expect(at("gantry models show gantry/i")).toMatchObject({ from: "models", typed: "gantry/i", prefix: "" });
  expect(at("gantry predict --out x gantry/image 'prompt=a b' si")).toMatchObject({
    from: "fields",
    typed: "si",
    words: ["gantry/image", "prompt=a b"],
  });
  expect(at("gantry predict a/b -o pic")).toMatchObject({ from: "files", typed: "pic" });
  expect(at("gantry predict a/b --out=pic")).toMatchObject({ from: "files", typed: "pic", prefix: "--out=" });
});

test("a line is split as a shell does", () => {
  expect(wordsOf(`gantry  predict a\\ b "c 'd" 'e "f' g`)).toEqual(["gantry", "predict", "a b", "c 'd", 'e "f', "g"]);
  expect(wordsOf("gantry ")).toEqual(["gantry", ""]);
});

test("every command has examples that name it, and each short option once", () => {
  for (const { name, examples, options = {}, hidden } of commands) {
    if (!hidden) expect(examples.length, name).toBeGreaterThan(0);
    for (const { line } of examples) expect(line).toMatch(new RegExp(`(^| )${name}( |$)`));
    const shorts = Object.values(options).flatMap(({ short }) => short ?? []);
    expect(new Set(shorts).size, name).toBe(shorts.length);
  }
});
