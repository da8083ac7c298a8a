import type { DiscoveredModel, ImportChoice, ImportResult, Pricing } from "@gantry/sdk";
import { priceParts } from "../models/price.rules.ts";

/** Matches every word of the search. */
export function matching(models: readonly DiscoveredModel[], search: string): DiscoveredModel[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return models.filter(({ id, title, kind, name }) => {
    const text = `${id} ${title} ${kind} ${name}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

const compact = new Intl.NumberFormat("en-US", { notation: "compact" });

/** What the upstream says about a model, in a few words each. */
export function factsOf({
  context_window,
  model_size_in_billions,
  input_modalities,
  tools,
}: DiscoveredModel): string[] {
  const reads = input_modalities.filter((modality) => modality !== "text" && modality !== "embedding");
  return [
    ...(context_window === null ? [] : [`${compact.format(context_window)} context`]),
    ...(model_size_in_billions === null ? [] : [`${compact.format(model_size_in_billions)}B parameters`]),
    ...(reads.length === 0 ? [] : [`Reads ${reads.map((modality) => plurals[modality]).join(", ")}`]),
    ...(tools ? ["Tools"] : []),
  ];
}

const plurals: Record<DiscoveredModel["input_modalities"][number], string> = {
  text: "text",
  image: "images",
  audio: "audio",
  video: "video",
  file: "files",
  embedding: "embeddings",
};

/** Who pays whom decides what the list says about prices. */
export interface PriceTerms {
  /** A vendor bills the calls. */
  isHosted: boolean;
  isForEveryone: boolean;
}

export function priceText({ pricing }: DiscoveredModel, { isHosted, isForEveryone }: PriceTerms): string[] {
  if (pricing !== null) return priceParts(pricing);
  if (!isHosted) return ["Free"];
  return isForEveryone ? [] : ["Billed by the vendor"];
}

type PricePart = keyof Pricing;
const priceFields: Record<DiscoveredModel["kind"], readonly (readonly [PricePart, string])[]> = {
  text: [
    ["per_million_input_tokens", "$ per 1M input tokens"],
    ["per_million_output_tokens", "$ per 1M output tokens"],
  ],
  embedding: [["per_million_input_tokens", "$ per 1M input tokens"]],
  image: [["per_output", "$ per image"]],
  video: [["per_output", "$ per video"]],
  other: [["per_request", "$ per run"]],
};

/** Typed prices of one model. */
export type PriceTexts = Partial<Record<PricePart, string>>;

/** Prices that an admin sets for all users, where the upstream states none. */
export const pricesToSet = ({ pricing, kind }: DiscoveredModel, { isForEveryone }: PriceTerms) =>
  isForEveryone && pricing === null ? priceFields[kind] : [];

/** A vendor's model needs a price before it is offered to everyone; 0 is one. */
export function isPrice(text = "", { isHosted }: Pick<PriceTerms, "isHosted">): boolean {
  if (text.trim() === "") return !isHosted;
  return Number.isFinite(Number(text)) && Number(text) >= 0;
}

export function isPriceMissing(model: DiscoveredModel, texts: PriceTexts, terms: PriceTerms): boolean {
  return pricesToSet(model, terms).some(([part]) => !isPrice(texts[part], terms));
}

export function choiceOf(model: DiscoveredModel, texts: PriceTexts, terms: PriceTerms): ImportChoice {
  const given = pricesToSet(model, terms).flatMap(([part]) => {
    const text = (texts[part] ?? "").trim();
    return text === "" ? [] : [[part, Number(text)] as const];
  });
  return { id: model.id, ...(given.length > 0 && { pricing: Object.fromEntries(given) }) };
}

/** The API takes so many models at once. */
const mostAtOnce = 200;

export function batchesOf(choices: readonly ImportChoice[]): ImportChoice[][] {
  const batches = Math.ceil(choices.length / mostAtOnce);
  return Array.from({ length: batches }, (_, n) => choices.slice(n * mostAtOnce, (n + 1) * mostAtOnce));
}

const outcomes = [
  ["created", "imported"],
  ["updated", "updated"],
  ["unchanged", "unchanged"],
  ["gone", "no longer offered"],
  ["failed", "failed"],
] as const satisfies readonly (readonly [ImportResult["outcome"], string])[];

/** For example "2 imported, 1 failed". */
export function summaryOf(results: readonly ImportResult[]): string {
  const parts = outcomes.flatMap(([outcome, word]) => {
    const n = results.filter((result) => result.outcome === outcome).length;
    return n === 0 ? [] : [`${n} ${word}`];
  });
  return parts.length === 0 ? "Nothing to update" : parts.join(", ");
}
