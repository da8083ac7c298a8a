import { createInterface } from "node:readline/promises";
import type { Context } from "../frame/command.ts";
import { wrongArguments } from "../frame/failure.ts";
import { visible } from "../frame/format.rules.ts";
import { isTerminal } from "../frame/terminal.ts";

/** Reads one line; undefined after Ctrl+D. Aborting ends the question, and Ctrl+C interrupts the command. */
export async function question(text: string, signal: AbortSignal): Promise<string | undefined> {
  signal.throwIfAborted();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const closed = new Promise<undefined>((resolve) => lines.once("close", () => resolve(undefined)));
  try {
    return (await Promise.race([lines.question(visible(text), { signal }), closed]))?.trim();
  } finally {
    lines.close();
  }
}

/** Asks before something that cannot be undone, or demands --yes where no terminal is. */
export async function confirmed(context: Context, asked: string, what: string): Promise<boolean> {
  if (context.flag("yes")) return true;
  if (!isTerminal()) throw wrongArguments(`Add --yes to ${what} without a question.`);
  const answer = await question(`${asked} [y/N] `, context.signal);
  if (/^y(es)?$/i.test(answer ?? "")) return true;
  context.out.note("Nothing was changed.");
  return false;
}

export const confirmDeletion = (context: Context, what: string): Promise<boolean> =>
  confirmed(context, `Delete ${what}?`, `delete ${what}`);
