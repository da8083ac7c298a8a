import { parseArgs } from "node:util";
import { type BooksRecord, createClient } from "@gantry/sdk";
import { loadTools, orPrintError, setting, target } from "./server-tools.ts";

const notChecked = 2;

export async function ledger(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { url: { type: "string" }, key: { type: "string" } },
    });
    if (positionals.join(" ") !== "verify") throw new Error("Usage: gantry ledger verify [--url URL] [--key KEY]");
    const asksServer = [values.url, setting("GANTRY_URL"), values.key].some((one) => one !== undefined);
    if (asksServer) return printBooks(await createClient(await target(values)).checkBooks());
    const { tools, options } = await loadTools();
    const report = await tools.verifyBooks(options);
    return printBooks({ ...report, sum: report.sum / 1_000_000 });
  }, notChecked);
}

export function printBooks({ accounts, sum, discrepancies }: BooksRecord): number {
  if (discrepancies.length === 0) {
    console.log(`The ledger is correct: ${accounts} accounts, sum ${sum}`);
    return 0;
  }
  console.error(`The ledger is not correct: ${accounts} accounts, sum ${sum}`);
  for (const { rule, subject, expected, found } of discrepancies) {
    console.error(`  ${rule} ${subject}: expected ${expected ?? "nothing"}, found ${found ?? "nothing"}`);
  }
  return 1;
}
