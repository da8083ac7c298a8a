/** Limits of the `dollars` of a manifest. */
const decimals = 6;
const mostDollars = 1_000_000n;

const decimalNumber = /^(\d{1,20})(?:\.(\d{0,40}))?(?:e([+-]?\d{1,2}))?$/i;

/**
 * Dollars for a million tokens. `power` is 6 for a price of one token and 0 for a price of a million. Computed in decimals,
 * because 0.00000015 times a million is not 0.15 in floating point; rounded up, so that a model is not sold below cost.
 */
export function dollarsPerMillion(price: unknown, power: 0 | 6): number | undefined {
  if (typeof price !== "string" && typeof price !== "number") return undefined;
  const [, whole, fraction = "", exponent = "0"] = decimalNumber.exec(String(price).trim()) ?? [];
  if (whole === undefined) return undefined;
  const digits = BigInt(whole + fraction);
  const shift = BigInt(Number(exponent) + power + decimals - fraction.length);
  const millionths = shift >= 0n ? digits * 10n ** shift : dividedUp(digits, 10n ** -shift);
  return millionths > mostDollars * 10n ** BigInt(decimals) ? undefined : Number(millionths) / 10 ** decimals;
}

function dividedUp(value: bigint, by: bigint): bigint {
  return (value + by - 1n) / by;
}
