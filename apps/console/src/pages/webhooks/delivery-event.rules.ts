import type { DeliveryFilter, RunWebhookEvent } from "@gantry/sdk";

export const eventLabels: Readonly<Record<RunWebhookEvent, string>> = {
  done: "Run done",
  error: "Run failed",
  confirmation_required: "Confirmation required",
};

/** The search field takes ids of all kinds. */
export function idFilter(id: string | undefined): Pick<DeliveryFilter, "prediction_id" | "run_id" | "notice_id"> {
  if (id?.startsWith("ntc_")) return { notice_id: id };
  return id?.startsWith("run_") ? { run_id: id } : { prediction_id: id };
}
