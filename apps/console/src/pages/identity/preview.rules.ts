import { GantryError } from "@gantry/sdk";

/** What a write would send, as the service tells it before it is confirmed. Secrets are hidden in it. */
export interface WritePreview {
  tenant: string;
  method: string;
  path: string;
  body: unknown;
  destructive: boolean;
  /** Of an update: the fields that get another value. */
  changes: { field: string; old: string | undefined; new: string }[] | undefined;
  warnings: string[];
}

/** Undefined: the failure is another. */
export function previewIn(error: unknown): WritePreview | undefined {
  if (!(error instanceof GantryError) || error.type !== "confirmation_required" || !error.details) return undefined;
  const { tenant, method, path, body, destructive, changes, warnings } = error.details;
  return {
    tenant: String(tenant),
    method: String(method),
    path: String(path),
    body: body ?? undefined,
    destructive: destructive === true,
    changes: typeof changes === "object" && changes !== null ? changesFrom(changes) : undefined,
    warnings: Array.isArray(warnings) ? warnings.map(String) : [],
  };
}

function changesFrom(changes: object): WritePreview["changes"] {
  return Object.entries(changes as Record<string, { old?: unknown; new: unknown }>).map(([field, change]) => ({
    field,
    old: Object.hasOwn(change, "old") ? shown(change.old) : undefined,
    new: shown(change.new),
  }));
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));
