import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as lexicon from "./lexicon.ts";
import { defaultPrompt } from "./options.ts";
import { readPrompt } from "./read-prompt.ts";
import { painters } from "./subjects/index.ts";

const brief = (prompt: string) => readPrompt(prompt).mentions.map(({ subject, count }) => `${count} ${subject}`);

test("the default prompt is about drones and obstacles", () => {
  expect(brief(defaultPrompt)).toEqual(expect.arrayContaining(["3 drone", "5 gate", "6 pillar", "1 mountain"]));
  expect(readPrompt(defaultPrompt).time).toBe("sunset");
});

test.each([
  ["a drone", ["1 drone"]],
  ["3 drones", ["3 drone"]],
  ["a dozen birds", ["12 bird"]],
  ["a flock of geese", ["14 bird"]],
  ["two cats and a dog", ["2 cat", "1 dog"]],
  ["houses", ["3 house"]],
  ["Three BUTTERFLIES", ["3 butterfly"]],
  ["two hot air balloons", ["2 balloon"]],
  ["nine thousand cars", ["8 car"]],
  ["0 cats", ["1 cat"]],
  ["a red car and a blue car", ["1 car", "1 car"]],
  ["two drones race; the drones are fast", ["2 drone"]],
  ["mountains without any trees, and a lake", ["1 mountain", "1 sea"]],
  ["of course, hope", []],
])("%s", (prompt, expected) => {
  expect(brief(prompt)).toEqual(expected);
});

test("colours, sizes and sides apply to the nearest subject", () => {
  const { mentions, sky } = readPrompt("a huge red robot on the left and a tiny white cat under a green sky");
  expect(mentions).toEqual([
    { subject: "robot", count: 1, colours: [lexicon.colours.red], scale: 1.65, side: 0.22 },
    { subject: "cat", count: 1, colours: [lexicon.colours.white], scale: 0.45 },
  ]);
  expect(sky).toEqual([lexicon.colours.green]);
});

test("the next word decides whether rose is a colour or a flower", () => {
  expect(readPrompt("a rose car").mentions).toMatchObject([{ subject: "car", colours: [lexicon.colours.rose] }]);
  expect(brief("a rose")).toEqual(["1 flower"]);
});

test("dark red is a colour, not a night", () => {
  const reading = readPrompt("a dark red boat");
  expect(reading.time).toBeUndefined();
  expect(reading.mentions[0]?.colours[0]).not.toBe(lexicon.colours.red);
});

test("colours without a subject tint the picture; weather, time and mood are recognised", () => {
  expect(readPrompt("a study in violet").colours).toEqual([lexicon.colours.violet]);
  expect(readPrompt("a foggy, neon midnight in the rain")).toMatchObject({
    time: "night",
    weather: ["fog", "rain"],
    moods: ["neon"],
  });
});

test("a megabyte of words is read in linear time", () => {
  const before = performance.now();
  expect(readPrompt("seven red drones ".repeat(60_000)).mentions.length).toBeLessThanOrEqual(14);
  expect(performance.now() - before).toBeLessThan(15_000);
});

test("every subject that is not a backdrop has a painter", () => {
  const things = Object.entries(lexicon.subjects).filter(([, { place }]) => place !== "backdrop" && place !== "sky");
  expect(things.filter(([subject]) => !painters[subject as lexicon.Subject])).toEqual([]);
});

test("the documentation lists every word", () => {
  const page = readFileSync(new URL("../../../docs/reference/gantry-image.md", import.meta.url), "utf8");
  const words = [
    ...Object.entries(lexicon.subjects).flatMap(([subject, { words }]) => [subject, ...words]),
    ...[lexicon.times, lexicon.weathers, lexicon.moods].flatMap((table) => Object.values(table).flat()),
    ...Object.keys(lexicon.colours),
    ...Object.keys(lexicon.magnitudes),
  ];
  const missing = words.filter((word) => !new RegExp(`\\b${word.replaceAll("-", " ")}\\b`).test(page));
  expect(missing).toEqual([]);
});
