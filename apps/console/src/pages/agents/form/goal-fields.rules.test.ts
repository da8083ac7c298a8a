import { expect, test } from "vitest";
import { followGoal, goalFields, missingFields, unusedFields } from "./goal-fields.rules.ts";

const none = { schema: { type: "object", properties: {} }, added: [], declined: [] };

test.each([
  ["Summarize {{url}} and {{ {url} }} for {{ reader }}.", ["url string needed", "reader string needed"]],
  ["Read {{url}}{{#if question}} and answer {{question}}{{else}}.{{/if}}", ["url string needed", "question string"]],
  ["{{#each days}}{{this}} {{name}} {{@index}} {{@root.city}}{{/each}}", ["days array", "city string needed"]],
  [
    "{{#with person}}{{first}}{{/with}} {{person.last}} {{#unless quiet}}!{{/unless}}",
    ["person object", "quiet string"],
  ],
  [
    "{{! a note }}{{!-- {{x}} --}}{{> part}}{{this}}{{else}}{{true}}{{12}} {{{html}}} {{~a~}}",
    ["html string needed", "a string needed"],
  ],
  ["{{unfinished} {{}} {{lookup map key}}", []],
])("fields of %s", (goal, expected) => {
  const shown = goalFields(goal).map(({ name, type, isNeeded }) => `${name} ${type}${isNeeded ? " needed" : ""}`);
  expect(shown).toEqual(expected);
});

test("typing a placeholder adds a field; renaming it renames the field", () => {
  const goals = ["About ", "About {{", "About {{t}}", "About {{to}}", "About {{topic}}", "About {{topic}} in {{year}}"];
  let now = none as ReturnType<typeof followGoal>;
  goals.forEach((goal, at) => {
    now = followGoal(goals[at - 1] ?? "", goal, now);
  });
  expect(now.added).toEqual(["topic", "year"]);
  expect(now.schema).toEqual({
    type: "object",
    properties: { topic: { type: "string" }, year: { type: "string" } },
    required: ["topic", "year"],
  });
  expect(followGoal(goals.at(-1) ?? "", "About", now).schema).toEqual({ type: "object", properties: {} });
});

test("edited fields stay, declined ones do not come back, earlier ones are not added", () => {
  const schema = { type: "object", properties: { topic: { type: "string", description: "What" } } };
  expect(followGoal("{{topic}}", "", { schema, added: ["topic"], declined: [] }).schema).toBe(schema);
  expect(followGoal("", "{{city}}", { ...none, declined: ["city"] }).schema).toBe(none.schema);
  expect(followGoal("{{old}}", "{{old}}!", none).schema).toBe(none.schema);
});

test("missing and unused fields", () => {
  const schema = { type: "object", properties: { depth: {} } };
  expect(missingFields("{{topic}}", schema).map(({ name }) => name)).toEqual(["topic"]);
  expect(unusedFields("{{topic}}", schema)).toEqual(["depth"]);
  expect(missingFields("{{topic}}", { ...schema, additionalProperties: true })).toEqual([]);
  expect(missingFields("{{topic}}", { $ref: "#/$defs/x" })).toEqual([]);
});
