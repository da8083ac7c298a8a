import { GantryError, type GantryIssue, type ModelCard, type NewModel } from "@gantry/sdk";
import { readableIssue } from "../../../ui/api-messages.rules.ts";
import { pretty } from "../../../ui/json.rules.ts";
import { InvalidJson, positionsIn } from "./json-positions.rules.ts";

/** Editable fields of a card, in display order. */
const parts = [
  "title",
  "description",
  "kind",
  "visibility",
  "capacity",
  "timeout_seconds",
  "max_queue_seconds",
  "context_window",
  "max_output_tokens",
  "model_size_in_billions",
  "keep_inputs",
  "pricing",
  "input",
  "output",
  "backend",
  "backends",
] as const satisfies readonly (keyof ModelCard)[];

export function manifestTextOf(card: ModelCard): string {
  return pretty(Object.fromEntries(parts.map((part) => [part, card[part]])));
}

export interface Fault {
  line: number;
  /** For example "input.properties.prompt"; empty for the whole manifest. */
  path: string;
  message: string;
}

export function readManifest(text: string): { manifest: NewModel } | { faults: Fault[] } {
  try {
    positionsIn(text);
    return { manifest: JSON.parse(text) as NewModel };
  } catch (error) {
    const line = error instanceof InvalidJson ? error.line : 1;
    return { faults: [{ line, path: "", message: "Invalid JSON from this line" }] };
  }
}

/** Empty if the error is not about the manifest. */
export function faultsIn(error: unknown, text: string): Fault[] {
  if (!(error instanceof GantryError)) return [];
  const { lineOf } = positionsIn(text);
  const faults = error.issues.filter(isInBody).map((issue) => {
    const path = issue.loc.slice(1);
    return { line: lineOf(path), path: path.join("."), message: readableIssue(issue) };
  });
  return faults.sort((a, b) => a.line - b.line);
}

const isInBody = ({ loc }: GantryIssue): boolean => loc[0] === "body";
