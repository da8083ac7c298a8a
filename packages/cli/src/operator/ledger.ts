import type { BooksRecord } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes, Failure } from "../frame/failure.ts";
import type { Output } from "../frame/output.ts";
import { setting } from "../frame/profiles.ts";
import { withTools } from "../server-tools.ts";

const notChecked = 2;

export async function verifyLedger(context: Context): Promise<number> {
  const { out, flag } = context;
  const books = await booksOf(context).catch((error: unknown) => {
    throw new Failure(describeFailure(error), notChecked);
  });
  if (!flag("json")) return printBooks(out, books);
  out.json(books);
  return codeOf(books);
}

export const codeOf = ({ discrepancies }: BooksRecord): number =>
  discrepancies.length === 0 ? exitCodes.done : exitCodes.failed;

/** From a server if one is named; a stored login does not hide the database of the settings. */
async function booksOf({ text, client, signal }: Context): Promise<BooksRecord> {
  const isNamed = [text("url"), text("key"), text("profile"), setting("GANTRY_URL")].some((one) => one !== undefined);
  if (isNamed) return (await client()).checkBooks({ signal });
  const report = await withTools((tools, options) => tools.verifyBooks(options));
  return { ...report, sum: report.sum / 1_000_000 };
}

export function printBooks(out: Output, books: BooksRecord): number {
  const { accounts, sum, discrepancies } = books;
  if (discrepancies.length === 0) {
    out.line(`The ledger is correct: ${accounts} accounts, sum ${sum}`);
    return codeOf(books);
  }
  out.note(`The ledger is not correct: ${accounts} accounts, sum ${sum}`);
  for (const { rule, subject, expected, found } of discrepancies) {
    out.note(`  ${rule} ${subject}: expected ${expected ?? "nothing"}, found ${found ?? "nothing"}`);
  }
  return codeOf(books);
}
