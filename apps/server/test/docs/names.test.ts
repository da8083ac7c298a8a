import { execFileSync } from "node:child_process";
import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { settings } from "../../src/config/config.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const { metrics }: { metrics: { name: string; type: string }[] } = await import(
  join(root, "scripts", "make-reference-docs.mjs")
);
const files = execFileSync("git", ["ls-files", "README.md", "docs", "deploy"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((file) => /\.(md|json|yaml|env|service)$|Dockerfile$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

const found = (pattern: RegExp) =>
  files.flatMap(({ file, text }) => [...text.matchAll(pattern)].map((match) => ({ file, name: match[1] ?? "" })));

test("every setting exists", () => {
  const named = found(/\b((?:GANTRY|S3|OTEL)_[A-Z][A-Z_]*[A-Z]|DATABASE_URL|AMQP_URL)\b/g);
  expect(named.length).toBeGreaterThan(100);
  /** Settings of the command and of development. */
  const others = ["GANTRY_URL", "GANTRY_KEY", "GANTRY_PROFILE", "GANTRY_TEAM"];
  expect(named.filter(({ name }) => !(name in settings) && !others.includes(name))).toEqual([]);
});

test("every metric exists", () => {
  const exposed = new Set(
    metrics.flatMap(({ name, type }) =>
      type === "histogram" ? ["", "_bucket", "_sum", "_count"].map((end) => name + end) : [name],
    ),
  );
  const named = found(/\b(gantry_[a-z_]*[a-z])\b/g);
  expect(named.length).toBeGreaterThan(80);
  const notMetrics = ["gantry_info", "gantry_image", "gantry_session"];
  expect(named.filter(({ name }) => !exposed.has(name) && !notMetrics.includes(name))).toEqual([]);
});

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

test("docs/operate/scale.md places every table once", () => {
  const tables = [...read("apps/server/migrations/schema.txt").matchAll(/^table (\w+)/gm)].map(([, name]) => name);
  const rows = read("docs/operate/scale.md")
    .split("\n")
    .filter((line) => line.startsWith("| **"));
  const placed = rows.flatMap((row) => inCode(row.split(" | ")[1] ?? ""));
  expect(tables.length).toBeGreaterThan(60);
  expect(placed.toSorted()).toEqual(tables.toSorted());
});
