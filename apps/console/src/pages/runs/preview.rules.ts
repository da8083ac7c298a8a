import { isRecord } from "../agents/json.rules.ts";

/** What the identity connector would send: the one kind of consequences that has a form of its own. */
export interface WritePreview {
  description: string | undefined;
  tenant: string;
  method: string;
  path: string;
  body: unknown;
  destructive: boolean;
  changes: { field: string; old: string | undefined; new: string }[];
  warnings: string[];
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Undefined: it is of another tool, and shown as it is. */
export function previewOf(details: Record<string, unknown> | undefined): WritePreview | undefined {
  const { tenant, method, path, description, body, destructive, changes, warnings } = details ?? {};
  if (typeof tenant !== "string" || typeof method !== "string" || typeof path !== "string") return undefined;
  return {
    description: typeof description === "string" ? description : undefined,
    tenant,
    method,
    path,
    body,
    destructive: destructive === true,
    changes: Object.entries(isRecord(changes) ? changes : {}).flatMap(([field, change]) =>
      isRecord(change)
        ? [{ field, old: Object.hasOwn(change, "old") ? textOf(change.old) : undefined, new: textOf(change.new) }]
        : [],
    ),
    warnings: Array.isArray(warnings) ? warnings.map(textOf) : [],
  };
}
