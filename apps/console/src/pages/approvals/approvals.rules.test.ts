import { expect, test } from "vitest";
import { announcement, newlyAsked, subAgentOf } from "./approvals.rules.ts";

const calculator = { id: "a1", name: "Calculator" };
const asked = (id: string, agent = calculator) => ({ id, tool: "run_javascript", agent, root_agent: calculator });

test("only questions that appear later are announced", () => {
  expect(newlyAsked(undefined, [asked("1")])).toEqual([]);
  expect(newlyAsked([asked("1")], [asked("2"), asked("1")]).map(({ id }) => id)).toEqual(["2"]);
  expect(newlyAsked([asked("1")], [])).toEqual([]);
});

test("one notification covers everything new", () => {
  expect(announcement([])).toBeUndefined();
  expect(announcement([asked("1")])).toEqual({
    title: "Approval needed",
    body: "Calculator wants to call run_javascript.",
  });
  expect(announcement([asked("1"), asked("2"), asked("3")])?.title).toBe("3 approvals needed");
});

test("a sub-agent is named", () => {
  expect(subAgentOf(asked("1"))).toBeUndefined();
  expect(subAgentOf(asked("1", { id: "a2", name: "Checker" }))).toBe("Checker");
});
