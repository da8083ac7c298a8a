import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { coverage, withoutUsers } from "./coverage.fixture.ts";

const schema = fileURLToPath(new URL("../../../migrations/schema.txt", import.meta.url));
/** Columns that name a user, or something of a user. */
const naming = /^ {2}(user_id|owner_id|actor_id|member_id|key_id|run_id|agent_id|drive_id|prediction_id) /m;

test("every table is exported, or left out for a reason", async () => {
  const text = await readFile(schema, "utf8");
  const tables = [...text.matchAll(/^table (\w+)[^\n]*\n((?: {2}[^\n]*\n)*)/gm)];
  expect(tables.length).toBeGreaterThan(70);
  const names = tables.map(([, name = ""]) => name);
  expect(names.toSorted()).toEqual([...Object.keys(coverage), ...withoutUsers].toSorted());
  const ofUsers = tables.filter(([, , columns = ""]) => naming.test(columns)).map(([, name = ""]) => name);
  expect(ofUsers.filter((name) => withoutUsers.includes(name))).toEqual([]);
  for (const [name, lists] of Object.entries(coverage)) expect(lists.length, name).toBeGreaterThan(0);
});
