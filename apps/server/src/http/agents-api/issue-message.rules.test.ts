import { expect, test } from "vitest";
import type { Issue, Loc } from "../../kernel/errors.ts";
import { messageOfIssues } from "./issue-message.rules.ts";

const issue = (loc: Loc, msg = "Field required"): Issue => ({ type: "missing", loc, msg });

test.each<[string, [Issue, ...Issue[]], string]>([
  ["the whole body", [issue(["body"], "The body is not valid JSON")], "The body is not valid JSON"],
  ["a field", [issue(["body", "name"])], "name: Field required"],
  ["a field of an entry", [issue(["body", "tools", 1, "agent_id"])], "tools[1].agent_id: Field required"],
  ["a parameter", [issue(["query", "limit"], "Must be at most 100")], "limit: Must be at most 100"],
  ["an entry of a list that is the body", [issue(["body", 0])], "[0]: Field required"],
  ["a place that is too long", [issue(["body", "a".repeat(200)])], `${"a".repeat(100)}…: Field required`],
  [
    "the first of several",
    [issue(["body", "name"]), issue(["body", "goal"]), issue(["body", "tools"])],
    "name: Field required (the first of 3 faults)",
  ],
])("%s", (_, issues, message) => {
  expect(messageOfIssues(issues)).toBe(message);
});
