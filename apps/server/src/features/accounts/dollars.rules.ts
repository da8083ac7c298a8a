/** Dollars on the wire, millionths inside. Half a millionth counts as a whole one. */
export function microsOfDollars(dollars: number): number {
  // The decimal text of a number is exact where a product is not: 1.0000005 * 1e6 is below the half.
  const [whole = "0", exponent = "0"] = dollars.toString().split("e");
  return Math.floor(Number(`${whole}e${Number(exponent) + 6}`) + 0.5);
}

export function dollarsOfMicros(micros: number): number {
  return micros / 1_000_000;
}
