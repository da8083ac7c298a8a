import { expect, test } from "vitest";
import { emptyDraft } from "./agent-draft.rules.ts";
import { currentErrors, draftFaults } from "./draft-faults.rules.ts";

test("an empty form has no faults until the user tries to save", () => {
  expect(draftFaults(emptyDraft, false)).toEqual({});
  expect(draftFaults(emptyDraft, true)).toEqual({
    name: "Enter a name.",
    goal: "Describe what the agent should achieve.",
  });
});

test("faults follow the text", () => {
  const draft = { ...emptyDraft, name: "n".repeat(101), description: "two\nlines", goal: "g" };
  expect(draftFaults(draft, false)).toEqual({
    name: "Use at most 100 characters. You have 101.",
    description: "Use one line of text, without line breaks or tabs.",
  });
  expect(draftFaults({ ...draft, name: "n", description: "One line." }, true)).toEqual({});
});

test("a description is optional, but not blank", () => {
  const draft = { ...emptyDraft, name: "n", goal: "g" };
  expect(draftFaults(draft, true)).toEqual({});
  expect(draftFaults({ ...draft, description: " " }, false)).toEqual({
    description: "Describe the agent, or leave this empty.",
  });
});

test("an error of the server goes away when its field changes", () => {
  const errors = { model: "Not found", "instructions.planning": "Too long" };
  const changed = { ...emptyDraft, model: "gantry/other" };
  expect(currentErrors(errors, emptyDraft, emptyDraft)).toEqual(errors);
  expect(currentErrors(errors, emptyDraft, changed)).toEqual({ "instructions.planning": "Too long" });
});
