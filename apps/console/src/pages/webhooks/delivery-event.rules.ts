import type { RunWebhookEvent } from "@gantry/sdk";

export const eventLabels: Readonly<Record<RunWebhookEvent, string>> = {
  done: "Run done",
  error: "Run failed",
  confirmation_required: "Confirmation required",
};

/** The search field takes ids of both kinds. */
export function idFilter(id: string | undefined): { prediction_id?: string | undefined; run_id?: string } {
  return id?.startsWith("run_") ? { run_id: id } : { prediction_id: id };
}
