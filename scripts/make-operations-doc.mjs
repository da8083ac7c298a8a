/**
 * Writes the tables of settings and metrics into docs/operations.md, from the code that reads and measures them, so that
 * the page cannot go stale: a test compares. Run with Node 24: node_modules/.bin/node scripts/make-operations-doc.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { settings } from "../apps/server/src/config/config.ts";
import { describedGauges } from "../apps/server/src/engines/telemetry/gauges.ts";
import { createMeasures } from "../apps/server/src/engines/telemetry/measures.ts";

const path = join(dirname(dirname(fileURLToPath(import.meta.url))), "docs", "operations.md");

/** All of its own metrics; those of the process come from prom-client under its usual names. */
export const metrics = [...createMeasures().described, ...describedGauges()];

const cell = (text) => String(text).replaceAll("|", "\\|");

const tables = {
  settings: [
    "| setting | default | what it does | what may be set |",
    "|---|---|---|---|",
    ...Object.entries(settings).map(
      ([name, { shown, meaning, takes = "any text" }]) =>
        `| \`${name}\` | ${cell(shown)} | ${cell(meaning)} | ${cell(takes)} |`,
    ),
  ],
  metrics: [
    "| metric | type | labels | what it says |",
    "|---|---|---|---|",
    ...metrics.map(
      ({ name, type, labelNames, help }) => `| \`${name}\` | ${type} | ${labelNames.join(", ")} | ${cell(help)} |`,
    ),
  ],
};

/** The page with its tables made anew. */
export function renewed(page) {
  for (const [name, lines] of Object.entries(tables)) {
    const [begin, end] = [`<!-- ${name}: made by scripts/make-operations-doc.mjs -->`, `<!-- end of ${name} -->`];
    const [from, until] = [page.indexOf(begin), page.indexOf(end)];
    if (from === -1 || until < from) throw new Error(`docs/operations.md has no place for the table of ${name}`);
    page = `${page.slice(0, from + begin.length)}\n\n${lines.join("\n")}\n\n${page.slice(until)}`;
  }
  return page;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(path, renewed(readFileSync(path, "utf8")));
