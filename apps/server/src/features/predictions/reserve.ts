import type { Manifest } from "@gantry/wire";
import { type InputValue, readableText } from "../../engines/models/driver.ts";
import { type Micros, usualAnswerTokens } from "../../kernel/money.ts";
import { reservationOf } from "../billing/index.ts";
import type { Model } from "../models/index.ts";

/** What a run of this input may cost. Tokens are counted only where they have a price. */
export function reservationFor(
  model: Model,
  input: Readonly<Record<string, InputValue>>,
  countTokens: (text: string) => Promise<number>,
): Micros | Promise<Micros> {
  const { pricing } = model.manifest;
  const inputIsPriced = (pricing.per_million_input_tokens ?? 0) > 0 || (pricing.per_million_cached_tokens ?? 0) > 0;
  const maxTokens = typeof input.max_tokens === "number" ? input.max_tokens : undefined;
  const reserve = (countedTokens: number) => reservationOf(model.manifest, { countedTokens, maxTokens });
  return inputIsPriced ? countTokens(readableText(input)).then(reserve) : reserve(0);
}

/** Those that must be told how long an answer may be. Others stop by themselves, and are left to. */
const needsLimit: ReadonlySet<string> = new Set(["anthropic"]);

/**
 * How long an answer to an agent may be: what its call asks for, but no longer than a prediction that names no
 * `max_tokens` gets from this model. Undefined where neither says anything: the driver decides then.
 */
export function answerLimit(
  { input, backend }: Pick<Manifest, "input" | "backend">,
  asked: number | undefined,
): number | undefined {
  if (!needsLimit.has(backend.type)) return asked;
  const { default: usual, maximum } = input.properties.max_tokens ?? {};
  const most = isLength(usual) ? usual : isLength(maximum) && maximum < usualAnswerTokens ? maximum : undefined;
  return asked === undefined || most === undefined ? (asked ?? most) : Math.min(asked, most);
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0;
}
