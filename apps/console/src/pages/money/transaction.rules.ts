import type { LedgerEntryRecord } from "@gantry/sdk";

type Transaction = Pick<LedgerEntryRecord, "kind" | "amount" | "reference" | "model_name">;

/** Names the model or agent. Entries older than the usage do not know it any more. */
export function transactionText({ kind, amount, model_name }: Transaction): string {
  switch (kind) {
    case "credit":
      return "Credit from an admin";
    case "correction":
      return "Credit removed by an admin";
    case "charge":
      return model_name ?? "Predictions";
    case "sale":
      if (amount > 0) return "Revenue from an agent run";
      return model_name === null ? "Agent run" : `Agent ${agentOf(model_name)?.label ?? model_name}`;
  }
}

/** `agents/creator/slug` as path parameters of the marketplace. Undefined for models. */
export function agentOf(name: string): { creator: string; slug: string; label: string } | undefined {
  const [, creator, slug] = /^agents\/([^/]+)\/([^/]+)$/.exec(name) ?? [];
  return creator && slug ? { creator, slug, label: `${creator}/${slug}` } : undefined;
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
