/** Undefined if the text is not a positive amount. */
export function signedAmount(text: string, direction: "add" | "take"): number | undefined {
  const amount = Number(text);
  if (text.trim() === "" || !Number.isFinite(amount) || amount <= 0) return undefined;
  return direction === "add" ? amount : -amount;
}

/** Rounds to millionths of a dollar, the resolution of the ledger, so that 0.1 + 0.2 is 0.3. */
export const balanceAfter = (balance: number, amount: number): number =>
  Math.round((balance + amount) * 1_000_000) / 1_000_000;
