import type { ListChange, ValueChange } from "@gantry/sdk";
import { pretty } from "../../ui/json.rules.ts";

export interface DiffLine {
  sign: "+" | "-" | " ";
  text: string;
}

/** Above this the comparison takes too long, and the diff replaces the whole text. */
const maxPairs = 400_000;

export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  if (old.length * now.length > maxPairs) {
    return [...old.map((text) => ({ sign: "-", text }) as const), ...now.map((text) => ({ sign: "+", text }) as const)];
  }
  const common = commonLengths(old, now);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    const [was, is] = [old[i], now[j]];
    if (was !== undefined && was === is) {
      lines.push({ sign: " ", text: was });
      i++;
      j++;
    } else if (was !== undefined && (is === undefined || at(common, i + 1, j) >= at(common, i, j + 1))) {
      lines.push({ sign: "-", text: was });
      i++;
    } else {
      lines.push({ sign: "+", text: is ?? "" });
      j++;
    }
  }
  return lines;
}

const linesOf = (text: string): string[] => (text === "" ? [] : text.split("\n"));
const at = (table: readonly (readonly number[])[], i: number, j: number): number => table[i]?.[j] ?? 0;

/** Length of the longest common subsequence from each pair of lines to the end. */
function commonLengths(old: readonly string[], now: readonly string[]): number[][] {
  const table: number[][] = Array.from({ length: old.length + 1 }, () => []);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const row = table[i];
      if (row)
        row[j] = old[i] === now[j] ? at(table, i + 1, j + 1) + 1 : Math.max(at(table, i + 1, j), at(table, i, j + 1));
    }
  }
  return table;
}

export const isListChange = (change: ListChange | ValueChange): change is ListChange => "added" in change;

/** Text to compare: strings as they are, other values as JSON. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return "";
  return typeof value === "string" ? value : pretty(value);
}
