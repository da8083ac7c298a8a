import type { RunText } from "@gantry/sdk";
import { expect, test } from "vitest";
import { addText, type LiveText } from "./live-text.rules.ts";

const frame = (call_id: string, text: string, kind: RunText["kind"] = "text"): RunText => ({
  step: 1,
  call_id,
  kind,
  text,
});

test("text is joined within a call and starts again with the next", () => {
  const frames = [frame("p1", "Hm.", "reasoning"), frame("p1", "Good "), frame("p1", "day"), frame("p2", "Next")];
  const states: LiveText[] = [];
  for (const next of frames) states.push(addText(states.at(-1), next));
  expect(states[2]).toEqual({ predictionId: "p1", text: "Good day", reasoning: "Hm." });
  expect(states[3]).toEqual({ predictionId: "p2", text: "Next", reasoning: "" });
});
