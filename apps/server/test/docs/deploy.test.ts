import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { settings } from "../../src/config/config.ts";

const root = fileURLToPath(new URL("../../../..", import.meta.url));
const read = (...path: string[]) => readFileSync(join(root, ...path), "utf8");
const { metrics }: { metrics: { name: string; type: string }[] } = await import(
  join(root, "scripts", "make-reference-docs.mjs")
);

describe("deploy/", () => {
  const files = readdirSync(join(root, "deploy"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, text: readFileSync(join(entry.parentPath, entry.name), "utf8") }));
  const withNames = (pattern: RegExp) =>
    files.flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([, found]) => `${name}: ${found}`));

  test("names only settings that exist", () => {
    const named = withNames(/\b((?:GANTRY|S3|OTEL)_[A-Z][A-Z_]*|DATABASE_URL|AMQP_URL)\b/g);
    expect(named.length).toBeGreaterThan(20);
    expect(named.filter((one) => !((one.split(": ")[1] ?? "") in settings))).toEqual([]);
  });

  test("names only metrics that exist", () => {
    const exposed = new Set(
      metrics.flatMap(({ name, type }) =>
        type === "histogram" ? ["", "_bucket", "_sum", "_count"].map((end) => name + end) : [name],
      ),
    );
    exposed.add("gantry_info");
    const named = withNames(/\b(gantry_[a-z_]+)\b/g);
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((one) => !exposed.has(one.split(": ")[1] ?? ""))).toEqual([]);
  });

  test("has a dashboard whose panels have a query and do not overlap the grid", () => {
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
