import {
  type BackendConfig,
  backendsOf,
  type FieldSchema,
  fileFieldOf,
  type Manifest,
  promptedBackends,
} from "@gantry/wire";
import { filesIn, type InputValue, readableText } from "../../../engines/models/driver.ts";
import { mostTokens, usualAnswerTokens } from "../../../kernel/money.ts";
import { allPricings, type Bounds, type Prices, pricesOf, type Terms } from "../../billing/index.ts";
import { isInputPriced, isPricedByTokens } from "./charge.rules.ts";

type PricedModel = Pick<
  Manifest,
  "pricing" | "backend" | "backends" | "timeout_seconds" | "context_window" | "output"
> &
  Partial<Pick<Manifest, "kind">>;
type Input = Readonly<Record<string, InputValue>>;

/** The bounds and prices of a prediction. Input tokens are counted only if they have a price, or for a limit of tokens. */
export function termsFor(
  manifest: PricedModel & Pick<Manifest, "input">,
  input: Input,
  countTokens: (text: string) => Promise<number>,
  mustCount = false,
): Terms | Promise<Terms> {
  const outputs = mostOutputs(manifest, input);
  const outputTokens = mostOutputTokens(manifest, input);
  const terms = (inputTokens: number) => termsOf(manifest, { outputs, inputTokens, outputTokens });
  if (!pricesInput(manifest) && !(mustCount && usesTokens(manifest))) return terms(mostTokens);
  const { text, otherTokens } = countable(manifest, input);
  return countTokens(text).then((counted) => terms(inputBound(counted) + otherTokens));
}

/** The terms of a run's model call, whose conversation is not an input of the manifest. */
export function termsOfChat(
  manifest: PricedModel,
  { inputTokens, maxTokens }: { inputTokens: number; maxTokens: number | undefined },
): Terms {
  return termsOf(manifest, {
    outputs: 1,
    inputTokens: inputBound(inputTokens),
    outputTokens: longestAnswer(maxTokens, usualAnswerTokens),
  });
}

/** Of an answer through a chat protocol, if neither the caller nor the manifest has a limit. */
const usualDoorAnswerTokens = 8_192;

export interface ChatSize {
  /** Counted tokens of all messages and tools. */
  textTokens: number;
  images: number;
  /** The upstream reads more than the request contains: documents, or tools that it runs itself. */
  readsMore: boolean;
  maxTokens: number | undefined;
}

/** The terms and the output limit of a call through a chat protocol, whose output limit is always sent upstream. */
export function termsOfDoorChat(
  manifest: PricedModel & Pick<Manifest, "max_output_tokens">,
  { textTokens, images, readsMore, maxTokens: asked }: ChatSize,
): { terms: Terms; maxTokens: number } {
  const { context_window: window, max_output_tokens: usual = usualDoorAnswerTokens } = manifest;
  const sent = inputBound(textTokens) + images * tokensOfImage;
  const inputTokens = readsMore ? Math.max(sent, window ?? usualContextWindow) : sent;
  const left = window === undefined ? mostTokens : Math.max(1, window - textTokens - images * tokensOfImage);
  // Small models refuse a limit beyond their window, and clients ask for what their own models can write.
  const maxTokens = Math.min(longestAnswer(asked, usual), left);
  return { terms: termsOf(manifest, { outputs: 1, inputTokens, outputTokens: maxTokens }), maxTokens };
}

/** The terms of a call whose only result is vectors, which are not tokens. */
export function termsOfTexts(manifest: PricedModel, countedTokens: number): Terms {
  return termsOf(manifest, { outputs: 1, inputTokens: inputBound(countedTokens), outputTokens: 0 });
}

/** Tokens without a price at any backend reserve nothing, so they need no bound. */
function termsOf(manifest: PricedModel, { outputs, inputTokens, outputTokens }: Omit<Bounds, "seconds">): Terms {
  const prices = pricesOf(manifest);
  return {
    ...prices,
    mostTokens: usesTokens(manifest) ? inputTokens + outputTokens : 0,
    bounds: {
      seconds: manifest.timeout_seconds,
      outputs,
      inputTokens: allPricings(prices).some(isInputPriced) ? Math.min(inputTokens, mostTokens) : mostTokens,
      outputTokens: pricesOutput(prices) ? outputTokens : mostTokens,
    },
  };
}

/** Whether predictions of the model count towards limits of tokens. Others have no tokens, or none that anybody knows. */
function usesTokens({ kind, ...manifest }: PricedModel): boolean {
  return kind === "text" || kind === "embedding" || allPricings(pricesOf(manifest)).some(isPricedByTokens);
}

/** Whether any backend has a price for input tokens. */
export function pricesInput(manifest: Pick<PricedModel, "pricing" | "backend" | "backends">): boolean {
  return allPricings(pricesOf(manifest)).some(isInputPriced);
}

function pricesOutput(prices: Prices): boolean {
  return allPricings(prices).some((pricing) => pricing.per_million_output_tokens);
}

/** A margin, because upstreams use other tokenizers and add text around messages. */
function inputBound(countedTokens: number): number {
  return Math.ceil(countedTokens * 1.25) + 64;
}

export const tokensOfImage = 1_600;
/** The same default as for the compression of an agent's conversation. */
const usualContextWindow = 32_000;

/** The text to count, and the tokens of everything else. A file given by its address counts as a file. */
function countable(
  { input: schema, context_window: window = usualContextWindow }: Pick<Manifest, "input" | "context_window">,
  input: Input,
): { text: string; otherTokens: number } {
  const texts: Record<string, InputValue> = {};
  let otherTokens = usesServerTools(input) ? window : 0;
  for (const [name, value] of Object.entries(input)) {
    const files = fileFieldOf(schema.properties[name]);
    const isFile = files !== undefined || filesIn(value).length > 0;
    if (!isFile || value === null) texts[name] = value;
    else if (files?.file["x-media"] === "image")
      otherTokens += tokensOfImage * (Array.isArray(value) ? value.length : 1);
    else otherTokens = Math.max(otherTokens, window);
  }
  return { text: readableText(texts), otherTokens };
}

/** Inputs that make an upstream read more than the request contains. */
const readingInputs = [
  "web_search_options",
  "search_parameters",
  "plugins",
  "mcp_servers",
  "container",
  "cachedContent",
  "previous_response_id",
];

function usesServerTools(input: Input): boolean {
  const { tools } = input;
  const isServerTool = (tool: unknown) => !isFunction(tool);
  return (
    readingInputs.some((name) => input[name]) || (Array.isArray(tools) ? tools.some(isServerTool) : Boolean(tools))
  );
}

function isFunction(tool: unknown): boolean {
  if (typeof tool !== "object" || tool === null) return false;
  return ("type" in tool && tool.type === "function") || "input_schema" in tool || "functionDeclarations" in tool;
}

/** Every file has its own output field, or is in a list. Only OpenAI's images API lets a request ask for fewer. */
function mostOutputs({ output, ...model }: PricedModel, input: Input): number {
  const fields = mostFiles(output);
  const { n } = input;
  const takesNumber = backendsOf(model).every(({ type }) => type === "openai-images");
  const asked = takesNumber && typeof n === "number" && n >= 1 ? Math.floor(n) : fields;
  return Math.max(1, Math.min(fields, asked));
}

/** Names that upstreams use for the limit of an answer. */
const limitNames = ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"];
/** Above the largest picture of the models that price pictures by tokens: about 6,300. */
const tokensOfCreatedFile = 8_192;

function mostFiles(output: PricedModel["output"]): number {
  const most = (field: FieldSchema) => {
    const files = fileFieldOf(field);
    return files ? (files.list?.most ?? 1) : 0;
  };
  return Object.values(output.properties).reduce((sum, field) => sum + most(field), 0);
}

function mostOutputTokens(manifest: PricedModel, input: Input): number {
  const given = limitNames.map((name) => input[name]).filter((value) => typeof value === "number");
  const usual =
    mostFiles(manifest.output) > 0
      ? Math.max(usualAnswerTokens, tokensOfCreatedFile * mostOutputs(manifest, input))
      : usualAnswerTokens;
  return longestAnswer(given.length > 0 ? Math.max(...given) : undefined, usual);
}

/** Values below one are ignored, as upstreams do. Otherwise such a request would reserve nothing for its answer. */
function longestAnswer(maxTokens: number | undefined, usual: number): number {
  const isGiven = maxTokens !== undefined && maxTokens >= 1;
  return Math.ceil(Math.min(isGiven ? maxTokens : usual, mostTokens));
}

/**
 * Adds the reserved limit to the input, if output tokens have a price and the backend accepts a limit. A longer answer would
 * be delivered but not charged.
 */
export function withinTerms(terms: Terms, { type }: Pick<BackendConfig, "type">, input: Input): Input {
  const { bounds } = terms;
  if (!pricesOutput(terms) || !promptedBackends.has(type)) return input;
  const [, ...otherNames] = limitNames;
  if (otherNames.some((name) => Number(input[name]) >= 1)) return input;
  return input.max_tokens === bounds.outputTokens ? input : { ...input, max_tokens: bounds.outputTokens };
}

/** Backends that require a limit for each answer. */
const needsLimit: ReadonlySet<string> = new Set(["anthropic"]);

/**
 * The limit of an answer to an agent: the requested one, but for backends that require a limit at most the default of the
 * manifest. Undefined leaves the limit to the driver.
 */
export function answerLimit(
  model: Pick<Manifest, "input" | "backend" | "backends" | "pricing">,
  asked: number | undefined,
): number | undefined {
  const { default: usual, maximum } = model.input.properties.max_tokens ?? {};
  if (!backendsOf(model).some(({ type }) => needsLimit.has(type))) {
    if (asked !== undefined || !pricesOutput(pricesOf(model))) return asked;
    return isLength(usual) ? Math.max(usual, usualAnswerTokens) : usualAnswerTokens;
  }
  const most = isLength(usual) ? usual : isLength(maximum) && maximum < usualAnswerTokens ? maximum : undefined;
  return asked === undefined || most === undefined ? (asked ?? most) : Math.min(asked, most);
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
