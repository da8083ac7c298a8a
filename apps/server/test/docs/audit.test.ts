import { readFile } from "node:fs/promises";
import { auditActionNames } from "@gantry/wire";
import { expect, test } from "vitest";

test("the page of the audit log lists every action", async () => {
  const page = await readFile(new URL("../../../../docs/operate/audit.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name]) => name);
  expect(auditActionNames.filter((name) => !listed.includes(name))).toEqual([]);
});
