import { GantryError, type GantryIssue, type ModelCard, type NewModel } from "@gantry/sdk";
import { pretty } from "../../../ui/json.rules.ts";
import { NoJson, placesIn } from "./json-places.rules.ts";

/** What a model is made of, in the order in which it is read; the rest of a card the service adds. */
const parts = [
  "title",
  "description",
  "kind",
  "visibility",
  "capacity",
  "timeout_seconds",
  "max_queue_seconds",
  "context_window",
  "model_size_in_billions",
  "pricing",
  "input",
  "output",
  "backend",
] as const satisfies readonly (keyof ModelCard)[];

export function manifestTextOf(card: ModelCard): string {
  return pretty(Object.fromEntries(parts.map((part) => [part, card[part]])));
}

/** Small, and it works as it is: a text model on a server that speaks the protocol of OpenAI. */
const example: NewModel = {
  title: "My model",
  description: "A model on a server that speaks the chat protocol of OpenAI, such as Ollama or vLLM.",
  kind: "text",
  visibility: "private",
  capacity: 2,
  pricing: {},
  input: {
    type: "object",
    properties: { prompt: { type: "string", title: "Prompt", minLength: 1 } },
    required: ["prompt"],
  },
  output: { type: "object", properties: { output: { type: "string", isStream: true } }, required: ["output"] },
  backend: { type: "openai-chat", url: "http://127.0.0.1:11434/v1", model: "llama3.2" },
};
export const exampleText = pretty(example);

/** Something that is wrong with a manifest, and where that stands. */
export interface Fault {
  line: number;
  /** As "input.properties.prompt"; empty for the whole. */
  place: string;
  message: string;
}

/** The manifest that a text is, or what keeps it from being one. */
export function readManifest(text: string): { manifest: NewModel } | { faults: Fault[] } {
  try {
    placesIn(text);
    return { manifest: JSON.parse(text) as NewModel };
  } catch (error) {
    const line = error instanceof NoJson ? error.line : 1;
    return { faults: [{ line, place: "", message: "From here on this is no JSON" }] };
  }
}

/** What the service found wrong in a text; none where the failure is about something else. */
export function faultsIn(error: unknown, text: string): Fault[] {
  if (!(error instanceof GantryError)) return [];
  const { lineOf } = placesIn(text);
  const faults = error.issues.filter(isInBody).map(({ loc, message }) => {
    const path = loc.slice(1);
    return { line: lineOf(path), place: path.join("."), message };
  });
  return faults.sort((one, other) => one.line - other.line);
}

const isInBody = ({ loc }: GantryIssue): boolean => loc[0] === "body";
