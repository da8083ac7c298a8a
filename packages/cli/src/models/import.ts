import type { DiscoveredModel, ImportChoice, ImportResult, Providers } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { wrongArguments } from "../frame/failure.ts";
import { dollarsOf } from "../frame/moment.rules.ts";
import type { Output } from "../frame/output.ts";
import { choicesOf, type Prices } from "./import-choices.rules.ts";
import { providerAccess } from "./provider-access.ts";

/** The API takes so many models at once. */
const mostAtOnce = 200;

export async function importModels(context: Context): Promise<number> {
  const {
    words: [name = "", ...ids],
    flag,
    text,
    out,
  } = context;
  const isAll = flag("all");
  if (isAll && ids.length > 0) throw wrongArguments("Give either ids or --all.");
  const priceOf = (option: string) => dollarsOf(option, text(option));
  const prices: Prices = { in: priceOf("price-in"), out: priceOf("price-out"), each: priceOf("price-each") };
  const hasPrices = Object.values(prices).some((price) => price !== undefined);
  if (hasPrices && !isAll && ids.length === 0) throw wrongArguments("Prices need ids or --all.");
  const { providers } = await providerAccess(context);
  const choices = await wanted(providers, name, { ids, isAll, prices, hasPrices });
  const results = choices ? await importAll(providers, name, choices) : await providers.import(name);
  if (flag("json")) out.json({ results });
  else printResults(out, results);
  return results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
}

interface Wanted {
  ids: readonly string[];
  isAll: boolean;
  prices: Prices;
  hasPrices: boolean;
}

/** Undefined: update what was imported before. */
async function wanted(
  providers: Providers,
  name: string,
  { ids, isAll, prices, hasPrices }: Wanted,
): Promise<ImportChoice[] | undefined> {
  if (!isAll && ids.length === 0) return undefined;
  // Which price a model takes depends on its kind.
  if (!isAll && !hasPrices) return ids.map((id) => ({ id }));
  const found = await providers.discover(name);
  return choicesOf(isAll ? found : found.filter(({ id }) => ids.includes(id)), prices, ids);
}

export async function importAll(
  providers: Providers,
  name: string,
  choices: readonly ImportChoice[],
): Promise<ImportResult[]> {
  const results: ImportResult[] = [];
  for (let from = 0; from < choices.length; from += mostAtOnce) {
    results.push(...(await providers.import(name, choices.slice(from, from + mostAtOnce))));
  }
  return results;
}

const words: Record<ImportResult["outcome"], string> = {
  created: "imported",
  updated: "updated",
  unchanged: "unchanged",
  gone: "no longer offered",
  failed: "failed",
};

export function printResults(out: Output, results: readonly ImportResult[]): void {
  if (results.length === 0) out.line("Nothing to import or update.");
  for (const { id, endpoint_id, outcome, kept, message } of results) {
    const print = outcome === "failed" ? out.note : out.line;
    print(`${endpoint_id ?? id}: ${words[outcome]}${message === null ? "" : `. ${message}`}`);
    if (kept.length > 0) print(`  kept your changes: ${kept.join(", ")}`);
  }
}

export function printModels(out: Output, models: readonly DiscoveredModel[], isNumbered: boolean): void {
  const width = Math.max(...models.map(({ id }) => id.length));
  for (const [n, { id, kind, context_window, imported }] of models.entries()) {
    const facts = [
      kind,
      ...(context_window === null ? [] : [`context ${context_window}`]),
      ...(imported === null ? [] : [`imported as ${imported}`]),
    ];
    out.line(`${isNumbered ? String(n + 1).padStart(4) : ""}  ${id.padEnd(width)}  ${facts.join(", ")}`);
  }
}
