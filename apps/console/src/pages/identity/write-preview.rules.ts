import { GantryError } from "@gantry/sdk";
import { isRecord, pretty } from "../../ui/json.rules.ts";

/** What a write to the tenant would send, as the service tells it before it is confirmed. Secrets are hidden in it. */
export interface WritePreview {
  description: string | undefined;
  tenant: string;
  method: string;
  path: string;
  body: unknown;
  destructive: boolean;
  /** Of an update: the fields that get another value. */
  changes: { field: string; old: string | undefined; new: string }[] | undefined;
  warnings: string[];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : pretty(value));

/** Undefined: the details are of something else. */
export function writePreviewOf(details: Readonly<Record<string, unknown>> | undefined): WritePreview | undefined {
  const { tenant, method, path, description, body, destructive, changes, warnings } = details ?? {};
  if (typeof tenant !== "string" || typeof method !== "string" || typeof path !== "string") return undefined;
  return {
    description: typeof description === "string" ? description : undefined,
    tenant,
    method,
    path,
    body: body ?? undefined,
    destructive: destructive === true,
    changes: isRecord(changes) ? changesIn(changes) : undefined,
    warnings: Array.isArray(warnings) ? warnings.map(textOf) : [],
  };
}

function changesIn(changes: Record<string, unknown>): WritePreview["changes"] {
  return Object.entries(changes).flatMap(([field, change]) =>
    isRecord(change)
      ? [{ field, old: Object.hasOwn(change, "old") ? textOf(change.old) : undefined, new: textOf(change.new) }]
      : [],
  );
}

/** What an action that was not confirmed would do. Undefined: the failure is another. */
export function previewIn(error: unknown): WritePreview | undefined {
  const isQuestion = error instanceof GantryError && error.type === "confirmation_required";
  return isQuestion ? writePreviewOf(error.details) : undefined;
}
