import { expect, test } from "vitest";
import { createTemplates } from "../../engines/templates/handlebars-templates.ts";
import { slugOf } from "./create-agent.ts";
import { unknownPlaceholders } from "./placeholder.rules.ts";

const unknown = (goal: string, schema: Record<string, unknown>) =>
  unknownPlaceholders(createTemplates().check(goal).placeholders, schema);

const city = { type: "object", properties: { city: { type: "string" } } };
const nested = {
  type: "object",
  properties: {
    user: { $ref: "#/$defs/user" },
    list: { type: "array", items: { $ref: "#/$defs/user" } },
    any: {},
    map: { type: "object", additionalProperties: { type: "object", properties: { x: {} } } },
    pair: { type: "array", prefixItems: [{ type: "string" }] },
    n: { type: "number" },
    texts: { type: "array", items: { type: "string" } },
  },
  $defs: { user: { type: "object", properties: { name: { type: "string" }, boss: { $ref: "#/$defs/user" } } } },
};

test.each([
  ["{{city}}", city, []],
  ["{{town}} {{city}} {{#if town}}{{/if}}", city, ["town"]],
  ["{{constructor}} {{__proto__}}", city, ["constructor", "__proto__"]],
  ["{{a}}", {}, ["a"]],
  ["{{a}}", { type: "object" }, ["a"]],
  ["{{a}}", { type: "object", additionalProperties: { type: "string" } }, []],
  ["{{a}}", { type: "object", additionalProperties: false }, ["a"]],
  ["{{a}}", { type: "object", patternProperties: { "^a": {} } }, []],
  ["{{city}} {{a}}", { allOf: [city, { properties: { a: {} } }] }, []],
  ["{{city}} {{b}}", { oneOf: [city, { properties: { a: {} } }] }, ["b"]],
  ["{{city}} {{b}}", { $ref: "#/$defs/c", $defs: { c: city } }, ["b"]],
  ["{{user.name}} {{user.boss.boss.name}} {{user.age}}", nested, ["user.age"]],
  ["{{#each list}}{{name}}{{age}}{{../n}}{{/each}}{{list.length}}", nested, ["age"]],
  ["{{#list}}{{name}}{{age}}{{/list}}", nested, ["age"]],
  ["{{#with user}}{{name}}{{nick}}{{/with}}", nested, ["nick"]],
  ["{{any.thing.at.all}} {{#each any}}{{x}}{{/each}}", nested, []],
  ["{{map.k.x}} {{map.k.y}} {{#each map}}{{x}}{{/each}}", nested, ["map.k.y"]],
  ["{{#each pair}}{{this}}{{/each}} {{n.x}}", nested, ["n.x"]],
  ["{{texts.[0]}} {{list.[0].name}} {{list.0.age}} {{texts.[1].x}}", nested, ["list.0.age", "texts.1.x"]],
  ["{{pair.[0]}} {{map.[0].x}} {{n.[0]}} {{user.[0]}}", nested, ["n.0", "user.0"]],
  ["{{a.b}}", { properties: { a: { $ref: "#" } } }, ["a.b"]],
  ["{{a}}", { $ref: "#" }, []],
])("%s against %j", (goal, schema, expected) => {
  expect(unknown(goal, schema)).toEqual(expected);
});

test("a recursive schema ends the search", () => {
  const self = { $ref: "#/$defs/a" };
  const schema = { $defs: { a: { anyOf: [self, self, self, self] } }, ...self };
  expect(unknown("{{a.b.c.d}}", schema)).toEqual([]);
});

test.each([
  ["Weather Reporter!", "weather-reporter"],
  ["  --a--b  ", "a-b"],
  ["x".repeat(100), "x".repeat(48)],
  [`${"x".repeat(47)} y`, "x".repeat(47)],
  ["Crème brûlée", "creme-brulee"],
  ["天気", "agent"],
  ["!", "agent"],
])("the slug of %s", (name, slug) => {
  expect(slugOf(name)).toBe(slug);
});
