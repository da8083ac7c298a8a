import { GantryError } from "@gantry/sdk";
import { isRecord, pretty } from "../../ui/json.rules.ts";

/** The request that a write would send to the tenant. Secrets are masked. */
export interface WritePreview {
  description: string | undefined;
  tenant: string;
  method: string;
  path: string;
  body: unknown;
  destructive: boolean;
  /** Only for updates. */
  changes: { field: string; old: string | undefined; new: string }[] | undefined;
  warnings: string[];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : pretty(value));

/** Undefined if the details do not describe a write to the tenant. */
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

export function previewIn(error: unknown): WritePreview | undefined {
  const needsConfirmation = error instanceof GantryError && error.type === "confirmation_required";
  return needsConfirmation ? writePreviewOf(error.details) : undefined;
}
