import { readFileSync, writeFileSync } from "node:fs";

/** Prints a table. With `--write` on the command line, replaces the block of that name in a page of `docs/`. */
export function showFigures(page: string, name: string, markdown: string): void {
  console.log(`\n${markdown}`);
  if (!process.argv.includes("--write")) return;
  const file = new URL(`../../docs/${page}`, import.meta.url);
  const [begin, end] = [`<!-- figures: ${name} -->`, "<!-- /figures -->"];
  const text = readFileSync(file, "utf8");
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`docs/${page} has no block for ${name}`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n${markdown}\n${text.slice(to)}`);
}
