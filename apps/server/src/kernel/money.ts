import type { Pricing } from "@gantry/wire";

/** Millionths of a dollar, always an integer. The API uses dollars. */
export type Micros = number;

const perDollar = 1_000_000;

export function dollarsOfMicros(micros: Micros): number {
  return micros / perDollar;
}

/** Rounds half up. */
export function microsOfDollars(dollars: number): Micros {
  // Through the decimal text, because 0.0000015 * 1e6 is 1.4999999999999998 in binary.
  return roundedPico(picoOfDecimal(dollars));
}

/** Billable quantities of a prediction. */
export interface Consumption {
  requests: number;
  seconds: number;
  outputs: number;
  /** Includes tokens read from and written to a cache. */
  inputTokens: number;
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
}

/** Assumed length of an answer without a limit: for the hold, and for upstreams that require a limit. */
export const usualAnswerTokens = 4096;

/** The largest count that the database stores. */
export const mostTokens = 2_147_483_647;

const picoPerMicro = 1_000_000n;

/** Exact, in 10^-12 dollars, so that a sum is rounded once. */
function picoOfDecimal(dollars: number): bigint {
  const [mantissa = "0", exponent = "0"] = dollars.toString().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  const shift = 12 + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return (digits + divisor / 2n) / divisor;
}

function roundedPico(pico: bigint): Micros {
  const half = picoPerMicro / 2n;
  const shifted = pico + half;
  const quotient = shifted / picoPerMicro;
  const floor = shifted < 0n && shifted % picoPerMicro !== 0n ? quotient - 1n : quotient;
  const micros = Number(floor);
  if (!Number.isSafeInteger(micros)) throw new RangeError("an amount of money is too large");
  return micros;
}

/** Prices in 10^-12 dollars, computed once per manifest. */
interface ExactPricing {
  request: bigint;
  second: bigint;
  output: bigint;
  inputToken: bigint;
  cachedToken: bigint;
  cacheWriteToken: bigint;
  outputToken: bigint;
  isFree: boolean;
}

const exactPricings = new WeakMap<Pricing, ExactPricing>();

function exact(pricing: Pricing): ExactPricing {
  const known = exactPricings.get(pricing);
  if (known) return known;
  const prices = {
    request: picoOfDecimal(pricing.per_request ?? 0),
    second: picoOfDecimal(pricing.per_second ?? 0),
    output: picoOfDecimal(pricing.per_output ?? 0),
    inputToken: picoOfDecimal(pricing.per_million_input_tokens ?? 0),
    cachedToken: picoOfDecimal(pricing.per_million_cached_tokens ?? pricing.per_million_input_tokens ?? 0),
    cacheWriteToken: picoOfDecimal(pricing.per_million_cache_write_tokens ?? pricing.per_million_input_tokens ?? 0),
    outputToken: picoOfDecimal(pricing.per_million_output_tokens ?? 0),
  };
  const made = { ...prices, isFree: Object.values(prices).every((price) => price === 0n) };
  exactPricings.set(pricing, made);
  return made;
}

/** Total price, rounded once, half up. */
export function priceOf(pricing: Pricing, used: Consumption): Micros {
  const price = exact(pricing);
  if (price.isFree) return 0;
  const cached = Math.min(used.cachedTokens, used.inputTokens);
  const written = Math.min(used.cacheWriteTokens, used.inputTokens - cached);
  const perMillion = (pico: bigint, tokens: number) => (pico * BigInt(tokens)) / 1_000_000n;
  return roundedPico(
    price.request * BigInt(used.requests) +
      (price.second * BigInt(Math.round(used.seconds * 1000))) / 1000n +
      price.output * BigInt(used.outputs) +
      perMillion(price.inputToken, used.inputTokens - cached - written) +
      perMillion(price.cachedToken, cached) +
      perMillion(price.cacheWriteToken, written) +
      perMillion(price.outputToken, used.outputTokens),
  );
}
