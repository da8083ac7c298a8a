import { expect, test } from "vitest";
import { changesOf, draftOf, emptyDraft, readDraft, rebased } from "./agent-draft.rules.ts";

test("only changed fields are sent", () => {
  const before = { ...emptyDraft, name: "Guide", tools: ["http_request"] };
  expect(changesOf(before, { ...before })).toBeUndefined();
  expect(changesOf(before, { ...before, goal: "Tell" })).toEqual({ goal: "Tell" });
  expect(changesOf(before, { ...before, tools: [] })).toEqual({ tools: [] });
});

test("a draft with changes takes what was saved meanwhile", () => {
  const base = { ...emptyDraft, name: "Guide", goal: "Tell", model: "a/b" };
  const draft = { ...base, goal: "Tell me" };
  expect(rebased(base, { ...base, model: "c/d" }, draft)).toEqual({
    draft: { ...base, goal: "Tell me", model: "c/d" },
    taken: ["model"],
    kept: [],
  });
  expect(rebased(base, { ...base, goal: "Ask" }, draft)).toEqual({ draft, taken: [], kept: ["goal"] });
  expect(rebased(base, draft, draft)).toEqual({ draft, taken: [], kept: [] });
});

test("a draft contains only fields of a revision", () => {
  const record = { ...emptyDraft, id: "agt_1", slug: "guide" } as Parameters<typeof draftOf>[0];
  expect(draftOf(record)).toEqual(emptyDraft);
});

test("JSON gets defaults, and is rejected if the form cannot show it", () => {
  expect(readDraft({ name: "Guide" })).toEqual({ draft: { ...emptyDraft, name: "Guide" } });
  expect(readDraft({ nmae: "Guide" })).toEqual({ fault: 'Unknown field "nmae"' });
  expect(readDraft({ tools: [{ type: "tool" }] })).toEqual({
    fault: '"tools" must be a list of tool ids and bindings',
  });
  expect(readDraft({ mcp_servers: [{ id: "mcp_1", tools: [3] }] })).toHaveProperty("fault");
  expect(readDraft({ tools: ["a", { type: "agent", agent_id: "agt_1" }], output_schema: {} })).toHaveProperty("draft");
});
