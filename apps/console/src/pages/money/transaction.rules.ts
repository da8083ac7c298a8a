import type { LedgerEntryRecord } from "@gantry/sdk";

type Transaction = Pick<LedgerEntryRecord, "kind" | "amount" | "reference">;

export function transactionText({ kind, amount }: Transaction): string {
  switch (kind) {
    case "credit":
      return "Credit from an admin";
    case "correction":
      return "Credit removed by an admin";
    case "charge":
      return "Prediction";
    case "sale":
      return amount < 0 ? "Agent run" : "Revenue from an agent run";
  }
}

/** A sold run belongs to its caller, so the seller gets no link. */
export function linkOfTransaction({
  kind,
  amount,
  reference,
}: Transaction): { run: string } | { prediction: string } | undefined {
  if (reference === null) return undefined;
  if (kind === "charge") return { prediction: reference };
  return kind === "sale" && amount < 0 ? { run: reference } : undefined;
}
