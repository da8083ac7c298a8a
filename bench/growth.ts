/**
 * The cost of each operation at both ends of what grows: models, keys, predictions, runs, files, waiting jobs. Each end is
 * a real server with an embedded PostgreSQL, filled inside PostgreSQL and measured over HTTP, one request at a time. Exits
 * with 1 if the cost of an operation without a stated reason grows faster than a logarithm.
 *
 *     npm run bench -- growth [--write] [--homes=folder] [models=10,10000] [keys] …
 *
 * Without names all are measured, with the sizes of docs/operate/growth.md. A folder keeps the filled homes for the next
 * time.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Dimension } from "./support/growth/dimension.ts";
import { dimensions } from "./support/growth/dimensions.ts";
import { type EndFigures, measureEnd } from "./support/growth/measure-end.ts";
import { prepareHome } from "./support/growth/prepare-home.ts";
import { judge, tableOf } from "./support/growth/table.ts";
import { showFigures } from "./support/write-figures.ts";

const given = process.argv.slice(2).filter((text) => !text.startsWith("--"));
const homesFlag = process.argv.find((text) => text.startsWith("--homes="))?.slice("--homes=".length);
const wanted = dimensionsOf(given);

function dimensionsOf(names: readonly string[]): Dimension[] {
  if (names.length === 0) return [...dimensions];
  return names.map((text) => {
    const [name, sizes] = text.split("=");
    const found = dimensions.find((one) => one.name === name);
    const [small = 0, large = 0] = sizes?.split(",").map(Number) ?? found?.sizes ?? [];
    if (!found || !(small > 0 && large > small)) {
      throw new Error(`Unknown ${text}. Known: ${dimensions.map((one) => one.name).join(", ")}, with =small,large`);
    }
    return { ...found, sizes: [small, large] };
  });
}

async function homeOf(folder: string, dimension: Dimension, size: number): Promise<string> {
  const home = join(folder, `${dimension.name}-${size}`);
  const mark = join(home, "filled");
  if (existsSync(mark)) return home;
  await rm(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const startedAt = performance.now();
  await prepareHome(home, dimension, size);
  writeFileSync(mark, "");
  console.log(`Filled ${dimension.name} to ${size} in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
  return home;
}

const folder = homesFlag ?? (await mkdtemp(join(tmpdir(), "gantry-growth-")));
let failed = 0;
try {
  for (const dimension of wanted) {
    const ends: EndFigures[] = [];
    for (const size of dimension.sizes) {
      const home = await homeOf(folder, dimension, size);
      ends.push(await measureEnd(home, dimension, size));
      if (!homesFlag) await rm(home, { recursive: true, force: true });
    }
    const rows = judge(dimension, ends as [EndFigures, EndFigures]);
    failed += rows.filter(({ verdict }) => verdict === "GROWS").length;
    showFigures("operate/growth.md", dimension.name, tableOf(dimension, rows));
  }
} finally {
  if (!homesFlag) await rm(folder, { recursive: true, force: true });
}
if (failed > 0) {
  console.error(`\n${failed} operations grow faster than a logarithm without a stated reason.`);
  process.exitCode = 1;
}
