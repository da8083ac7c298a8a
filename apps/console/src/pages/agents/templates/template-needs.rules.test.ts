import { expect, test } from "vitest";
import { emptyDraft } from "../form/agent-draft.rules.ts";
import { templateNeeds } from "./template-needs.rules.ts";

test.each([
  [{ tools: ["http_request"] }, "Works at once with http_request"],
  [{}, "Works at once"],
  [{ tools: ["idp_users_list", "drive_read"] }, "Needs an identity tenant and a drive"],
  [{ model: "openai/gpt" }, "Needs the model openai/gpt"],
])("%j", (fields, text) => {
  expect(templateNeeds({ ...emptyDraft, ...fields })).toBe(text);
});

test("what a template creates is not needed before", () => {
  const setup = { drives: [{ name: "Documents", index: {} }], trigger: {} };
  const draft = { ...emptyDraft, tools: ["drive_search"] };
  expect(templateNeeds(draft, setup)).toBe("Comes with the searchable drive Documents and a trigger");
});
