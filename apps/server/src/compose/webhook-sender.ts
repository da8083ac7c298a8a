import type { RunRecord, RunWebhookPayload } from "@gantry/wire";
import { type LinkOf, renewLinks } from "../features/predictions/index.ts";
import type { Runs } from "../features/runs/index.ts";
import {
  type RunEvent,
  startWebhookSender,
  type WebhookSender,
  type WebhookSenderDeps,
} from "../features/webhooks/index.ts";
import { confirmationRecord, runRecord } from "../http/agents-api/run-records.ts";

type SenderDeps = Omit<WebhookSenderDeps, "renewPayload" | "describeRunEvent"> & {
  runs: Runs;
  linkOf: LinkOf;
  publicUrl: string | undefined;
};

/** The sender, with the parts of payloads that other features know. */
export function startSender({ runs, linkOf, publicUrl, ...deps }: SenderDeps): Promise<WebhookSender> {
  return startWebhookSender({
    ...deps,
    renewPayload: (payload, ageMs) => renewLinks({ linkOf, publicUrl }, payload, ageMs),
    describeRunEvent: describeRunEvents({ runs, publicUrl }),
  });
}

/** Of one field. Receivers often accept no more than 1 MB. */
const longestField = 262_144;

/** The body of a run's webhook: the run as its caller reads it, without fields that are too large. */
function describeRunEvents({ runs, publicUrl }: { runs: Runs; publicUrl: string | undefined }) {
  return async ({ runId, event, confirmationId, at }: RunEvent): Promise<RunWebhookPayload | undefined> => {
    const found = await runs.readForWebhook(runId, confirmationId);
    if (!found) return undefined;
    const { shown, confirmation } = found;
    const omitted: string[] = [];
    const run = bounded(runRecord(shown), "run", ["input", "output"], omitted) as RunRecord;
    const asked = confirmation && confirmationRecord(confirmation);
    const base = publicUrl ?? shown.run.baseUrl;
    return {
      type: `run.${event}`,
      timestamp: at.toISOString(),
      run,
      ...(asked && { confirmation: bounded(asked, "confirmation", ["arguments", "details"], omitted, {}) }),
      ...(omitted.length > 0 && { omitted: { fields: omitted, url: `${base}/v1/runs/${runId}` } }),
    };
  };
}

/** Leaves large fields out, or replaces them if the record needs them. */
function bounded<T extends object>(
  record: T,
  at: string,
  fields: readonly (keyof T & string)[],
  omitted: string[],
  instead?: object,
): T {
  const result = { ...record };
  for (const field of fields) {
    if (record[field] === undefined || JSON.stringify(record[field]).length <= longestField) continue;
    omitted.push(`${at}.${field}`);
    if (instead === undefined) delete result[field];
    else Object.assign(result, { [field]: instead });
  }
  return result;
}
