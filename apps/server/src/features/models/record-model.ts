import type { AuditAction } from "@gantry/wire";
import type { Sql } from "../../engines/database/database.ts";
import { changedNames, record } from "../audit/index.ts";
import type { Model } from "./model.ts";

type ModelAction = Extract<AuditAction, `model.${string}`>;

/** Of a manifest that changed, the log shows what users see and pay, and otherwise the names of the changed fields. */
export function recordModel(
  tx: Sql,
  action: ModelAction,
  { before, after, reason }: { before?: Model | undefined; after?: Model | undefined; reason?: string },
): Promise<void> {
  const model = after ?? before;
  if (!model) throw new Error("a record of no model");
  const changed = before && after ? changedNames(before.manifest, after.manifest) : undefined;
  return record(tx, {
    action,
    object: { id: model.endpointId, name: model.endpointId },
    ownerId: model.ownerId,
    before: before && fieldsOf(before),
    after: after && { ...fieldsOf(after), changed, reason },
  });
}

function fieldsOf({ version, manifest: { title, kind, visibility, capacity, pricing } }: Model) {
  return { title, kind, visibility, capacity, pricing, version };
}
