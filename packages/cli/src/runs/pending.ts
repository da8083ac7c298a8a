import type { ConfirmationRecord, GantryClient } from "@gantry/sdk";
import { previewLines } from "./run-text.rules.ts";

/** Confirmations of a run and its sub-agents that wait for an answer. */
export async function pendingOf(client: GantryClient, runId: string): Promise<ConfirmationRecord[]> {
  return (await client.runs.confirmations.list(runId)).filter(({ status }) => status === "pending");
}

/** What would be done, and how to answer. */
export function printPending(
  print: (line: string) => void,
  runId: string,
  pending: readonly ConfirmationRecord[],
): void {
  for (const confirmation of pending) {
    const by = confirmation.run_id === runId ? "" : ` (sub-agent ${confirmation.agent.name})`;
    print(`${confirmation.id}: ${confirmation.tool}${by}`);
    for (const line of previewLines(confirmation)) print(`  ${line}`);
    print(`  Approve: gantry runs approve ${runId} ${confirmation.id}`);
    print(`  Deny:    gantry runs deny ${runId} ${confirmation.id}`);
  }
}
