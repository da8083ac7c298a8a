import type { DiscoveredModel, ImportChoice, Pricing } from "@gantry/sdk";

/** Dollars, from the options of the command. */
export interface Prices {
  in: number | undefined;
  out: number | undefined;
  /** Per image, video or run. */
  each: number | undefined;
}

const priceParts: Record<DiscoveredModel["kind"], readonly (readonly [keyof Pricing, keyof Prices])[]> = {
  text: [
    ["per_million_input_tokens", "in"],
    ["per_million_output_tokens", "out"],
  ],
  embedding: [["per_million_input_tokens", "in"]],
  image: [["per_output", "each"]],
  video: [["per_output", "each"]],
  other: [["per_request", "each"]],
};

/** Ids that the provider does not serve are sent too: the server says what is wrong with them. */
export function choicesOf(models: readonly DiscoveredModel[], prices: Prices, ids: readonly string[]): ImportChoice[] {
  const known = new Set(models.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  return [...models.map((model) => choiceOf(model, prices)), ...unknown.map((id) => ({ id }))];
}

function choiceOf({ id, kind }: DiscoveredModel, prices: Prices): ImportChoice {
  const given = priceParts[kind].flatMap(([part, name]) =>
    prices[name] === undefined ? [] : [[part, prices[name]] as const],
  );
  return { id, ...(given.length > 0 && { pricing: Object.fromEntries(given) }) };
}

/** Reads numbers, ranges and ids as typed: `1 3-5 llama3.2:3b`, or `all`. */
export function chosenFrom(models: readonly DiscoveredModel[], typed: string): DiscoveredModel[] | { unknown: string } {
  const words = typed.split(/[\s,]+/).filter((word) => word !== "");
  if (words.length === 1 && words[0]?.toLowerCase() === "all") return [...models];
  const chosen = new Set<DiscoveredModel>();
  for (const word of words) {
    const found = namedBy(models, word);
    if (found.length === 0) return { unknown: word };
    for (const model of found) chosen.add(model);
  }
  return models.filter((model) => chosen.has(model));
}

function namedBy(models: readonly DiscoveredModel[], word: string): DiscoveredModel[] {
  const named = models.filter(({ id }) => id === word);
  if (named.length > 0) return named;
  const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(word) ?? [];
  return first === undefined ? [] : models.slice(Math.max(0, Number(first) - 1), Number(last));
}
