import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const source = "apps/server/src";
const inCode = (text: string) => [...text.matchAll(/`([^`\s]+)`/g)].map(([, found = ""]) => found);

/** A path has a folder. `*` and capital letters stand for any name. */
const isPath = (text: string) => /^[a-z.][\w.-]*\/[\w./-]+$/.test(text) && !/[A-Z]/.test(text);

test.each([
  ["docs/architecture.md", 80],
  ["CONTRIBUTING.md", 20],
  ["docs/operate/versioning.md", 1],
  ["docs/contribute/writing.md", 5],
])("every path in %s exists", (page, least) => {
  const paths = inCode(read(page)).filter(isPath);
  expect(paths.length).toBeGreaterThan(least);
  const missing = paths.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, source, path)));
  expect(missing).toEqual([]);
});

test("every SQL function in docs/architecture.md exists", () => {
  const defined = new Set(
    globSync(`${source}/features/*/sql/*.sql`, { cwd: root }).flatMap((file) =>
      [...read(file).matchAll(/^create or replace function (\w+)/gm)].map(([, name]) => name),
    ),
  );
  const rows = read("docs/architecture.md")
    .split("\n")
    .flatMap((line) => (line.startsWith("| ") ? [line.split(" | ")] : []));
  const named = rows.flatMap((cells) => (cells.length === 3 ? inCode(cells[2] ?? "") : []));
  const functions = named.filter((name) => /^[a-z]+(_[a-z]+)+$/.test(name));
  expect(functions.length).toBeGreaterThan(10);
  expect(functions.filter((name) => !defined.has(name))).toEqual([]);
});
