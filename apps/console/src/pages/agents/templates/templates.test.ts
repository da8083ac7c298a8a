import { expect, test } from "vitest";
import { readDraft } from "../form/agent-draft.rules.ts";
import { draftFaults } from "../form/draft-faults.rules.ts";
import { missingFields, unusedFields } from "../form/goal-fields.rules.ts";
import { templateOf, templates } from "./templates.ts";

test("every example is a template that fills the form", () => {
  expect(templates.map(({ id }) => id)).toEqual(
    expect.arrayContaining(["careful-caller", "illustrator", "page-reader"]),
  );
  for (const { id, draft } of templates) {
    expect(readDraft({ ...draft }), id).toEqual({ draft });
    expect(draftFaults(draft, true), id).toEqual({});
    expect(draft.description, id).toBeTruthy();
    expect(missingFields(draft.goal, draft.input_schema), id).toEqual([]);
    expect(unusedFields(draft.goal, draft.input_schema), id).toEqual([]);
  }
});

test("an unknown template is not found", () => {
  expect(templateOf("no-such")).toBeUndefined();
  expect(templateOf("illustrator")?.draft.name).toBe("Illustrator");
});
