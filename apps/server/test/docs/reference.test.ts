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
    "### gantry models import",
    "| `--price-in DOLLARS` |",
  ])
    expect(text).toContain(row);
});
