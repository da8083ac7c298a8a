import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { type Rule, rules } from "./rules.ts";

const schema = await readFile(new URL("../../../migrations/schema.txt", import.meta.url), "utf8");
const tables = new Map(
  [...schema.matchAll(/^table (\w+)(.*)\n((?: {2}.*\n|CASE|\s+WHEN.*\n|\s+ELSE.*\n|END\)\n)*)/gm)].map(
    ([, name = "", kind = "", body = ""]) => [name, { kind, body }],
  ),
);
const columnsOf = (table: string) => [...(tables.get(table)?.body.matchAll(/^ {2}(\w+) \w/gm) ?? [])].map(([, n]) => n);
const entries = Object.entries(rules) as [string, Rule][];
const parentOf = ([, rule]: [string, Rule]) => ("with" in rule ? rule.with : undefined);

test("every table has a rule, and every rule a table", () => {
  expect(tables.size).toBeGreaterThan(70);
  expect(Object.keys(rules).sort()).toEqual([...tables.keys()].sort());
});

test("rules name columns that exist", () => {
  for (const [table, rule] of entries) {
    if (!("delete" in rule)) continue;
    expect(columnsOf(table), table).toContain(rule.delete);
    if ("of" in rule && rule.of) expect(columnsOf(rule.of.table), table).toContain(rule.of.owner);
    if ("walk" in rule) expect(columnsOf(table), table).toContain("id");
  }
});

test("rows that go with others are deleted by a foreign key, by the rule of the others, or by a feature", () => {
  for (const [table, parent] of entries.flatMap((one) => [[one[0], parentOf(one)] as const])) {
    if (parent === undefined) continue;
    const rule = rules[parent];
    const isNamed = rule !== undefined && "children" in rule && rule.children?.includes(table);
    const isOfFeature = rule !== undefined && "by" in rule;
    const cascades = new RegExp(`REFERENCES ${parent}\\(.*ON DELETE CASCADE`).test(tables.get(table)?.body ?? "");
    expect([table, isNamed || isOfFeature || cascades]).toEqual([table, true]);
  }
});

test("tables that name an account are not said to have nothing of a user", () => {
  const naming = [...tables.keys()].filter((table) =>
    columnsOf(table).some((column) => /^(user|owner|member|team|actor)_id$/.test(String(column))),
  );
  const ignored = naming.filter((table) => "none" in (rules[table] ?? { none: "" }));
  // Empty for the account before the rules apply.
  expect(ignored).toEqual(["live_predictions"]);
});
