import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const { references }: { references: { name: string; found: string; current: string }[] } = await import(
  join(root, "scripts", "make-reference-docs.mjs")
);

test.each(references)("docs/reference/$name.md is current", ({ found, current }) => {
  expect(found === current, "Run node_modules/.bin/node scripts/make-reference-docs.mjs").toBe(true);
});

test("each table has rows", () => {
  const text = references.map(({ current }) => current).join("");
  for (const row of [
    "| `DATABASE_URL` |",
    "| `gantry_http_requests_total` | counter |",
    "| `missing` | 422 |",
    "| `agent_not_published` | 400 |",
    "| `limit_exceeded` |",
    "| `POST /v1/agents` |",
  ])
    expect(text).toContain(row);
});

test("docs/reference/command.md shows every command with its options", () => {
  const usages = readFileSync(join(root, "packages/cli/src/commands.ts"), "utf8").matchAll(/usage:\s+"([^"]+)"/g);
  const page = readFileSync(join(root, "docs/reference/command.md"), "utf8").replaceAll("\\|", "|");
  const missing = [...usages].map(([, usage]) => `\`gantry ${usage}\``).filter((usage) => !page.includes(usage));
  expect(missing).toEqual([]);
});
