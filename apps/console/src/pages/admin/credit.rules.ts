/** Dollars as they were typed, with the sign that the direction gives them; undefined if they are no amount. */
export function signedAmount(text: string, direction: "add" | "take"): number | undefined {
  const amount = Number(text);
  if (text.trim() === "" || !Number.isFinite(amount) || amount <= 0) return undefined;
  return direction === "add" ? amount : -amount;
}

/** In whole millionths, as the books count: 0.1 + 0.2 is 0.3. */
export const balanceAfter = (balance: number, amount: number): number =>
  Math.round((balance + amount) * 1_000_000) / 1_000_000;
