import type { LedgerEntryRecord } from "@gantry/sdk";

type Movement = Pick<LedgerEntryRecord, "kind" | "amount" | "reference">;

/** What moved the money, in words. */
export function wordsOfMovement({ kind, amount }: Movement): string {
  switch (kind) {
    case "credit":
      return "Added by an admin";
    case "correction":
      return "Taken away by an admin";
    case "charge":
      return "Prediction";
    case "sale":
      return amount < 0 ? "Run of an agent" : "Sale of a run";
  }
}

/** What the wallet's owner can look at: a run that was sold is its caller's. */
export function placeOfMovement({
  kind,
  amount,
  reference,
}: Movement): { run: string } | { prediction: string } | undefined {
  if (reference === null) return undefined;
  if (kind === "charge") return { prediction: reference };
  return kind === "sale" && amount < 0 ? { run: reference } : undefined;
}
