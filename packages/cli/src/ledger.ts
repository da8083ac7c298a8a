import { parseArgs } from "node:util";
import { type BooksRecord, createClient } from "@gantry/sdk";
import { listeningUrl, setting } from "./environment.ts";
import { loadTools, orSayWhy } from "./server-tools.ts";

const notLookedAt = 2;

export async function ledger(args: readonly string[]): Promise<number> {
  return orSayWhy(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { url: { type: "string" }, key: { type: "string" } },
    });
    if (positionals.join(" ") !== "verify") throw new Error("Say what to do: gantry ledger verify");
    const url = values.url ?? setting("GANTRY_URL") ?? (values.key === undefined ? undefined : await listeningUrl());
    if (url !== undefined) {
      return sayBooks(await createClient({ url, key: values.key ?? setting("GANTRY_KEY") }).checkBooks());
    }
    const { tools, options } = await loadTools();
    const report = await tools.verifyBooks(options);
    return sayBooks({ ...report, sum: report.sum / 1_000_000 });
  }, notLookedAt);
}

export function sayBooks({ accounts, sum, discrepancies }: BooksRecord): number {
  if (discrepancies.length === 0) {
    console.log(`the books are right: ${accounts} accounts, sum ${sum}`);
    return 0;
  }
  console.error(`the books are wrong: ${accounts} accounts, sum ${sum}`);
  for (const { rule, subject, expected, found } of discrepancies) {
    console.error(`  ${rule} ${subject}: expected ${expected ?? "nothing"}, found ${found ?? "nothing"}`);
  }
  return 1;
}
