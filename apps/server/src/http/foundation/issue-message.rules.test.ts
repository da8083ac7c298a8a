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
  ["a name that is not plain", [issue(["body", "input", "two words"])], 'input["two words"]: Field required'],
  ["a name with a dot, first", [issue(["body", "a.b", "x-y"])], '["a.b"].x-y: Field required'],
  ["no name", [issue(["body", "", 0])], '[""][0]: Field required'],
  [
    "a name that breaks the line, rings and turns the text around",
    [issue(["body", 'a"\n\u0007\u009b\u202e\u2028\u{e0041}é'])],
    '["a\\"\\n\\u0007\\u009b\\u202e\\u2028\\udb40\\udc41é"]: Field required',
  ],
  [
    "such a name in what is said of it",
    [issue(["body", "tools"], "Unknown tool a\n\u202eb")],
    "tools: Unknown tool a\\u000a\\u202eb",
  ],
  [
    "a place that is too long when it is written out",
    [issue(["body", "\n".repeat(80)])],
    `["${"\\n".repeat(49)}…: Field required`,
  ],
  ["a place that is too long", [issue(["body", "a".repeat(200)])], `${"a".repeat(100)}…: Field required`],
  [
    "the first of several",
    [issue(["body", "name"]), issue(["body", "goal"]), issue(["body", "tools"])],
    "name: Field required (the first of 3 faults)",
  ],
])("%s", (_, issues, message) => {
  expect(messageOfIssues(issues)).toBe(message);
});
