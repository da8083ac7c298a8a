import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));

function testsIn(row: string): string[] {
  let folder = "";
  return [...row.matchAll(/`([\w./-]+\.test\.ts)`/g)].map(([, path = ""]) => {
    if (path.startsWith("apps/")) return path;
    if (path.includes("/")) folder = path.slice(0, path.lastIndexOf("/") + 1);
    return join("apps/server/test", path.includes("/") ? path : folder + path);
  });
}

test("docs/operate/security.md names a test for each promise, and all of them exist", async () => {
  const page = await readFile(join(root, "docs/operate/security.md"), "utf8");
  const promises = page.slice(page.indexOf("| promise |")).split("\n\n")[0]?.split("\n").slice(2) ?? [];
  expect(promises.length).toBeGreaterThan(20);
  expect(promises.filter((row) => testsIn(row).length === 0)).toEqual([]);
  expect(promises.flatMap(testsIn).filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
