import { expect, test } from "vitest";
import { createTranscript, type TranscriptUpdate } from "../src/transcript.rules.ts";

type Texts = Record<string, string>;
const output = (text: string, more = {}) => ({ output_data: { output: [text] }, ...more });
const restarted = { restarted: true };

/** All updates for the fragments of several attempts, of which the last one finishes. */
function tellAll(...attempts: Texts[][]): (TranscriptUpdate | undefined)[] {
  const transcript = createTranscript();
  const told = attempts.map((pieces) => {
    transcript.restart();
    return pieces.map((piece) => transcript.append(Object.entries(piece)));
  });
  return [...told.flat(), transcript.finish()].filter((each) => each !== undefined);
}

/** The final text of a reader that handles `restarted`. */
function readerOf(told: (TranscriptUpdate | undefined)[]): Texts {
  let texts: Texts = {};
  for (const each of told) {
    if (each?.restarted) texts = {};
    for (const [field, parts] of Object.entries(each?.output_data ?? {})) {
      texts[field] = (texts[field] ?? "") + parts.join("");
    }
  }
  return texts;
}

const pieces = (...texts: string[]) => texts.map((text) => ({ output: text }));

test.each([
  ["the same, cut elsewhere", pieces("Hell", "o"), [output("Hel"), output("lo")]],
  ["the same and more", pieces("H", "ello, ", "you"), [output("Hel"), output("lo"), output(", "), output("you")]],
  ["something else at once", pieces("Bye"), [output("Hel"), output("lo"), output("Bye", restarted)]],
  [
    "something else of the same length",
    pieces("Hallo", "!"),
    [output("Hel"), output("lo"), output("Hallo", restarted), output("!")],
  ],
  ["something else later", pieces("He", "l", "p!"), [output("Hel"), output("lo"), output("Help!", restarted)]],
  ["less", pieces("Hel"), [output("Hel"), output("lo"), output("Hel", restarted)]],
  ["nothing", [], [output("Hel"), output("lo"), { output_data: { output: [] }, ...restarted }]],
])("a newer attempt that says %s", (_, again, told) => {
  expect(tellAll(pieces("Hel", "lo"), again)).toEqual(told);
});

test("fields restart together, and fields without text are included", () => {
  const first: Texts[] = [{ answer: "A", title: "one" }, { note: "x" }];
  const second: Texts[] = [{ title: "one" }, { answer: "B" }, { title: " and two" }];
  expect(tellAll(first, second)).toEqual([
    { output_data: { answer: ["A"], title: ["one"] } },
    { output_data: { note: ["x"] } },
    { output_data: { answer: ["B"], title: ["one"], note: [] }, ...restarted },
    { output_data: { title: [" and two"] } },
  ]);
});

/** The same numbers in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test("however attempts differ and are cut, a reader has what the last one said", () => {
  const number = numbers(7);
  const text = () => Array.from({ length: number(6) }, () => "ab"[number(2)]).join("");
  const attempt = () => Array.from({ length: number(4) }, () => ({ [`field${number(2)}`]: text() }));
  for (let round = 0; round < 5_000; round++) {
    const attempts = Array.from({ length: 1 + number(3) }, attempt);
    const whole: Texts = {};
    for (const piece of attempts.at(-1) ?? [])
      for (const [field, said] of Object.entries(piece)) whole[field] = (whole[field] ?? "") + said;
    const read = readerOf(tellAll(...attempts));
    for (const field of ["field0", "field1"]) {
      expect(read[field] ?? "", JSON.stringify(attempts)).toBe(whole[field] ?? "");
    }
  }
});
