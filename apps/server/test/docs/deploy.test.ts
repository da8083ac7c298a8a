import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { settings } from "../../src/config/config.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const maker: { metrics: { name: string; type: string }[]; renewed(page: string): string } = await import(
  join(root, "scripts", "make-operations-doc.mjs")
);

test("docs/operations.md holds the settings and metrics of the code", () => {
  const page = read("docs", "operations.md");
  expect(
    page === maker.renewed(page),
    "docs/operations.md is stale: run node_modules/.bin/node scripts/make-operations-doc.mjs",
  ).toBe(true);
  expect(page).toContain("| `DATABASE_URL` |");
  expect(page).toContain("| `gantry_http_requests_total` | counter |");
});

describe("deploy/", () => {
  const files = readdirSync(join(root, "deploy"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), "utf8") }));
  const withNames = (pattern: RegExp) =>
    files.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([, found]) => `${name}: ${found}`));

  test("names no setting that does not exist", () => {
    const named = withNames(/\b((?:GANTRY|S3|OTEL)_[A-Z][A-Z_]*|DATABASE_URL|AMQP_URL)\b/g);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((one) => !((one.split(": ")[1] ?? "") in settings))).toEqual([]);
  });

  test("names no metric that does not exist", () => {
    const ours = new Set(
      maker.metrics.flatMap(({ name, type }) =>
        type === "histogram" ? ["", "_bucket", "_sum", "_count"].map((end) => name + end) : [name],
      ),
    );
    ours.add("gantry_info");
    const named = withNames(/\b(gantry_[a-z_]+)\b/g);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((one) => !ours.has(one.split(": ")[1] ?? ""))).toEqual([]);
  });

  test("has a dashboard whose panels all ask for something, each in a place of its own", () => {
    const { panels } = JSON.parse(read("deploy", "grafana", "gantry.json")) as {
      panels: {
        id: number;
        type: string;
        title: string;
        targets?: { expr: string }[];
        gridPos: { x: number; w: number };
      }[];
    };
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    for (const { type, title, targets, gridPos } of panels) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      if (type !== "row")
        expect(
          targets?.every(({ expr }) => /(gantry|process|nodejs)_/.test(expr)),
          title,
        ).toBe(true);
    }
  });
});
