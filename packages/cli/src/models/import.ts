import { parseArgs } from "node:util";
import type { DiscoveredModel, ImportChoice, ImportResult, Providers } from "@gantry/sdk";
import { orPrintError } from "../server-tools.ts";
import { choicesOf, type Prices } from "./import-choices.rules.ts";
import { accessOptions, asking, notAsked, printJson, providerAccess } from "./provider-access.ts";

/** The API takes so many models at once. */
const mostAtOnce = 200;

export function importModels(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...accessOptions,
        all: { type: "boolean" },
        "price-in": { type: "string" },
        "price-out": { type: "string" },
        "price-each": { type: "string" },
      },
    });
    const [name, ...ids] = positionals;
    if (name === undefined) throw new Error("Usage: gantry models import NAME [ID...] [--all]");
    if (values.all && ids.length > 0) throw new Error("Give either ids or --all.");
    const prices: Prices = {
      in: dollars("--price-in", values["price-in"]),
      out: dollars("--price-out", values["price-out"]),
      each: dollars("--price-each", values["price-each"]),
    };
    const hasPrices = Object.values(prices).some((price) => price !== undefined);
    if (hasPrices && !values.all && ids.length === 0) throw new Error("Prices need ids or --all.");
    const { providers } = await providerAccess(values);
    return asking(async () => {
      const choices = await wanted(providers, name, { ids, isAll: values.all ?? false, prices, hasPrices });
      const results = choices ? await importAll(providers, name, choices) : await providers.import(name);
      if (values.json) printJson({ results });
      else printResults(results);
      return results.some(({ outcome }) => outcome === "failed") ? 1 : 0;
    });
  }, notAsked);
}

function dollars(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (text.trim() === "" || !Number.isFinite(amount) || amount < 0) {
    throw new Error(`${option} must be an amount in dollars, for example 0.5.`);
  }
  return amount;
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

export function printResults(results: readonly ImportResult[]): void {
  if (results.length === 0) console.log("Nothing to import or update.");
  for (const { id, endpoint_id, outcome, kept, message } of results) {
    const print = outcome === "failed" ? console.error : console.log;
    print(`${endpoint_id ?? id}: ${words[outcome]}${message === null ? "" : `. ${message}`}`);
    if (kept.length > 0) print(`  kept your changes: ${kept.join(", ")}`);
  }
}

export function printModels(models: readonly DiscoveredModel[], isNumbered: boolean): void {
  const width = Math.max(...models.map(({ id }) => id.length));
  for (const [n, { id, kind, context_window, imported }] of models.entries()) {
    const facts = [
      kind,
      ...(context_window === null ? [] : [`context ${context_window}`]),
      ...(imported === null ? [] : [`imported as ${imported}`]),
    ];
    console.log(`${isNumbered ? String(n + 1).padStart(4) : ""}  ${id.padEnd(width)}  ${facts.join(", ")}`);
  }
}
