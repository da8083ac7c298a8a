import { beforeEach, expect, test } from "vitest";
import type { Step } from "../run.ts";
import type { TextPiece } from "../text-pieces.rules.ts";
import { AnswerReader } from "./answer-reader.ts";

type Stored = Pick<Step, "n" | "kind" | "message">;

let steps: Stored[];
let text: string;
let thoughts: string;
let reader: AnswerReader;

const open = (snapshot: { formatting?: string; output_schema?: object } = {}) =>
  new AnswerReader(
    {
      snapshot: {
        instructions: snapshot.formatting === undefined ? {} : { formatting: snapshot.formatting },
        output_schema: (snapshot.output_schema ?? null) as Record<string, unknown> | null,
      },
      listSteps: async (after) => steps.filter(({ n }) => n > after),
    },
    {
      onText: (piece) => {
        text += piece;
      },
      onReasoning: (piece) => {
        thoughts += piece;
      },
    },
  );

beforeEach(() => {
  steps = [];
  text = "";
  thoughts = "";
  reader = open();
});

const call = { id: "call", name: "tool", arguments: {} };

function store(message: string, { calls = 0, cut = false, kind = "work" as Step["kind"] } = {}): void {
  const toolCalls = Array.from({ length: calls }, () => call);
  steps.push({ n: steps.length + 1, kind, message: { text: message, toolCalls, ...(cut && { cutAtTokens: 9 }) } });
}

/** Pieces of one call, numbered in order. */
function callOf(step: number, callId = `call-${step}`) {
  let seq = 0;
  const next = (kind: TextPiece["kind"], piece: string) => reader.take({ step, callId, seq: seq++, kind, text: piece });
  return {
    say: (piece: string) => next("text", piece),
    think: (piece: string) => next("reasoning", piece),
    /** A piece that does not arrive. */
    lose: () => {
      seq++;
    },
  };
}

test("pieces in order are passed on at once", async () => {
  const first = callOf(1);
  await first.say("Hello");
  expect(text).toBe("Hello");
  await first.say(", you.");
  store("Hello, you.");
  await reader.finish("Hello, you.");
  expect(text).toBe("Hello, you.");
});

test("after a lost piece nothing more of the call is passed on until its step is stored", async () => {
  const first = callOf(1);
  await first.say("One ");
  first.lose();
  await first.say("three");
  expect(text).toBe("One ");
  store("One two three", { calls: 1 });
  await reader.look();
  expect(text).toBe("One two three");
  await callOf(2).say("Next");
  expect(text).toBe("One two three\n\nNext");
});

test("a reader that comes late gets the text when the step is stored", async () => {
  const first = callOf(1);
  first.lose();
  await first.say("late");
  expect(text).toBe("");
  store("very late");
  await reader.finish("very late");
  expect(text).toBe("very late");
});

test("a retry that writes the same text continues it", async () => {
  await callOf(1, "first").say("The same ");
  const again = callOf(1, "second");
  await again.say("The ");
  await again.say("same text");
  expect(text).toBe("The same text");
  await again.say(" goes on.");
  store("The same text goes on.");
  await reader.finish("The same text goes on.");
  expect(text).toBe("The same text goes on.");
});

test("a retry that writes another text is passed on whole, after a blank line", async () => {
  await callOf(1, "first").say("The same ");
  const again = callOf(1, "second");
  await again.say("Another");
  await again.say(" text.");
  expect(text).toBe("The same ");
  store("Another text.");
  await reader.finish("Another text.");
  expect(text).toBe("The same \n\nAnother text.");
});

test("a retry that ends earlier is passed on whole, too", async () => {
  await callOf(1, "first").say("The same text");
  await callOf(1, "second").say("The same");
  store("The same");
  await reader.finish("The same");
  expect(text).toBe("The same text\n\nThe same");
});

test("pieces of a call that was stored meanwhile are ignored", async () => {
  store("Whole.", { calls: 1 });
  await reader.look();
  await callOf(1).say("Whole.");
  expect(text).toBe("Whole.");
});

test("a piece of the next call first reads the steps before it", async () => {
  const first = callOf(1);
  await first.say("One ");
  store("One two", { calls: 1 });
  await callOf(2).say("Three");
  expect(text).toBe("One two\n\nThree");
});

test("a piece of a call whose steps before are not stored is ignored", async () => {
  await callOf(3).say("early");
  expect(text).toBe("");
});

test("a summary is not passed on", async () => {
  store("Found.", { calls: 1 });
  store("All that was done.", { kind: "summary" });
  await callOf(3).say("Answer");
  expect(text).toBe("Found.\n\nAnswer");
});

test("the continuation of a cut answer is passed on at the end", async () => {
  await callOf(1).say("A table: a, b");
  store("A table: a, b", { cut: true });
  store("a, b, c.");
  await reader.look();
  expect(text).toBe("A table: a, b");
  await reader.finish("A table: a, b, c.");
  expect(text).toBe("A table: a, b, c.");
});

test("with a schema, the output is passed on at the end", async () => {
  reader = open({ output_schema: {} });
  store('{"n":1}', { kind: "format" });
  await reader.look();
  expect(text).toBe("");
  await reader.finish('{"n":2}');
  expect(text).toBe('{"n":2}');
});

test("with a formatting instruction, work is not part of the answer", async () => {
  reader = open({ formatting: "Shout." });
  store("quiet");
  await reader.look();
  await callOf(2).say("LO");
  store("LOUD", { kind: "format" });
  await reader.finish("LOUD");
  expect(text).toBe("LOUD");
});

test("thoughts of different calls are separated, and those of a broken call are left out", async () => {
  const first = callOf(1);
  await first.think("Hm");
  await first.think(", so");
  first.lose();
  await first.think("lost");
  store("", { calls: 1 });
  await callOf(2).think("Then");
  expect(thoughts).toBe("Hm, so\n\nThen");
});

test("an empty text beside tool calls needs no blank line", async () => {
  await callOf(1).say("\n");
  store("\n", { calls: 1 });
  await callOf(2).say("Answer");
  store("Answer");
  await reader.finish("Answer");
  expect(text).toBe("\nAnswer");
});

test("a slow reader delays what follows", async () => {
  let release = () => {};
  const passed: string[] = [];
  const slow = new AnswerReader(
    { snapshot: { instructions: {}, output_schema: null }, listSteps: async () => [] },
    {
      onText: (piece) => {
        passed.push(piece);
        return new Promise<void>((resolve) => {
          release = resolve;
        });
      },
    },
  );
  const piece = { step: 1, callId: "c", kind: "text" as const };
  const first = slow.take({ ...piece, seq: 0, text: "one" });
  const second = slow.take({ ...piece, seq: 1, text: "two" });
  await Promise.resolve();
  await new Promise(setImmediate);
  expect(passed).toEqual(["one"]);
  release();
  await first;
  await new Promise(setImmediate);
  release();
  await second;
  expect(passed).toEqual(["one", "two"]);
});
