import { type Manifest, promptedBackends } from "@gantry/wire";
import { type InputValue, isFileInput, readableText } from "../../../engines/models/driver.ts";
import { mostTokens, usualAnswerTokens } from "../../../kernel/money.ts";
import { type Bounds, pricingOf, type Terms } from "../../billing/index.ts";
import { makesFiles } from "../execution/output-check.rules.ts";
import { isInputPriced } from "./charge.rules.ts";

type PricedModel = Pick<Manifest, "pricing" | "backend" | "timeout_seconds" | "context_window" | "output">;
type Input = Readonly<Record<string, InputValue>>;

/** What a prediction of this input may use, and at which prices. Input is counted only where it has a price. */
export function termsFor(
  manifest: PricedModel & Pick<Manifest, "input">,
  input: Input,
  countTokens: (text: string) => Promise<number>,
): Terms | Promise<Terms> {
  const outputs = mostOutputs(manifest, input);
  const outputTokens = mostOutputTokens(manifest, input);
  const terms = (inputTokens: number) => termsOf(manifest, { outputs, inputTokens, outputTokens });
  if (!isInputPriced(manifest.pricing)) return terms(mostTokens);
  const { text, ownTokens } = weighed(manifest, input);
  return countTokens(text).then((counted) => terms(inputBound(counted) + ownTokens));
}

/** The same for a call of an agent, whose conversation is no input of the manifest. */
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

/** Tokens without a price reserve nothing, so that nothing bounds how many are shown. */
function termsOf(manifest: PricedModel, { outputs, inputTokens, outputTokens }: Omit<Bounds, "seconds">): Terms {
  const { pricing, timeout_seconds: seconds } = manifest;
  return {
    pricing: pricingOf(manifest),
    bounds: {
      seconds,
      outputs,
      inputTokens: isInputPriced(pricing) ? Math.min(inputTokens, mostTokens) : mostTokens,
      outputTokens: pricing.per_million_output_tokens ? outputTokens : mostTokens,
    },
  };
}

/** Upstreams count with tokenizers of their own, and wrap messages into more than can be seen here. */
function inputBound(countedTokens: number): number {
  return Math.ceil(countedTokens * 1.25) + 64;
}

const tokensOfImage = 1_600;
/** As for the compression of an agent's conversation. */
const usualContextWindow = 32_000;

/** The text to count, and the tokens of what is not text. A file field counts as a file also while it is an address. */
function weighed(
  { input: schema, context_window: window = usualContextWindow }: Pick<Manifest, "input" | "context_window">,
  input: Input,
): { text: string; ownTokens: number } {
  const texts: Record<string, InputValue> = {};
  let ownTokens = usesServerTools(input) ? window : 0;
  for (const [name, value] of Object.entries(input)) {
    const field = schema.properties[name];
    if (!isFileInput(value) && (field?.format !== "binary" || value === null)) texts[name] = value;
    else if (field?.["x-media"] === "image") ownTokens += tokensOfImage;
    else ownTokens = Math.max(ownTokens, window);
  }
  return { text: readableText(texts), ownTokens };
}

/** Inputs with which an upstream reads more than it is sent. They go to it by name. */
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
  const ofServer = (tool: unknown) => !isFunction(tool);
  return readingInputs.some((name) => input[name]) || (Array.isArray(tools) ? tools.some(ofServer) : Boolean(tools));
}

/** A tool that the caller runs. */
function isFunction(tool: unknown): boolean {
  if (typeof tool !== "object" || tool === null) return false;
  return ("type" in tool && tool.type === "function") || "input_schema" in tool || "functionDeclarations" in tool;
}

/** Every file of an answer has an output field of its own. Only OpenAI's images API lets a request ask for fewer. */
function mostOutputs({ output, backend }: PricedModel, input: Input): number {
  const fields = Object.values(output.properties).filter((field) => field.format === "binary").length;
  const { n } = input;
  const asked = backend.type === "openai-images" && typeof n === "number" && n >= 1 ? Math.floor(n) : fields;
  return Math.max(1, Math.min(fields, asked));
}

/** What upstreams call the limit of an answer. */
const limitNames = ["max_tokens", "max_completion_tokens", "max_output_tokens", "max_new_tokens"];
/** The dearest picture of the models that sell them by tokens has about 6,300. */
const tokensOfMadeFile = 8_192;

function mostOutputTokens(manifest: PricedModel, input: Input): number {
  const given = limitNames.map((name) => input[name]).filter((value) => typeof value === "number");
  const usual = makesFiles(manifest.output)
    ? Math.max(usualAnswerTokens, tokensOfMadeFile * mostOutputs(manifest, input))
    : usualAnswerTokens;
  return longestAnswer(given.length > 0 ? Math.max(...given) : undefined, usual);
}

/**
 * The manifest may leave the field without bounds. Below one it bounds nothing: an upstream takes it for not given, and what
 * reserved nothing for its answer would be held back by no want of funds.
 */
function longestAnswer(maxTokens: number | undefined, usual: number): number {
  const isGiven = maxTokens !== undefined && maxTokens >= 1;
  return Math.ceil(Math.min(isGiven ? maxTokens : usual, mostTokens));
}

/**
 * The input with the limit that was reserved, where output tokens have a price and the backend takes a limit: an answer
 * beyond it would be delivered and not charged.
 */
export function withinTerms({ pricing, bounds }: Terms, { backend }: Pick<Manifest, "backend">, input: Input): Input {
  if (!pricing.per_million_output_tokens || !promptedBackends.has(backend.type)) return input;
  const [, ...otherNames] = limitNames;
  if (otherNames.some((name) => Number(input[name]) >= 1)) return input;
  return input.max_tokens === bounds.outputTokens ? input : { ...input, max_tokens: bounds.outputTokens };
}

/** Those that must be told how long an answer may be. Others stop by themselves, and are left to where that is free. */
const needsLimit: ReadonlySet<string> = new Set(["anthropic"]);

/**
 * How long an answer to an agent may be: what its call asks for, but of those that need a limit no longer than a
 * prediction that names no `max_tokens` gets. Undefined where nothing says it: the driver decides then.
 */
export function answerLimit(
  { input, backend, pricing }: Pick<Manifest, "input" | "backend" | "pricing">,
  asked: number | undefined,
): number | undefined {
  const { default: usual, maximum } = input.properties.max_tokens ?? {};
  if (!needsLimit.has(backend.type)) {
    if (asked !== undefined || !pricing.per_million_output_tokens) return asked;
    return isLength(usual) ? Math.max(usual, usualAnswerTokens) : usualAnswerTokens;
  }
  const most = isLength(usual) ? usual : isLength(maximum) && maximum < usualAnswerTokens ? maximum : undefined;
  return asked === undefined || most === undefined ? (asked ?? most) : Math.min(asked, most);
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
