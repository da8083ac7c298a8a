import type { BatchRecord } from "@gantry/wire";
import { doorOperations } from "@gantry/wire/operations";
import { scopeOf } from "../../features/accounts/index.ts";
import type { Batch } from "../../features/batches/index.ts";
import { isRecord } from "../../kernel/is-record.ts";
import type { DoorRoutes } from "../doors/doors.ts";
import { originOf } from "../foundation/request-origin.ts";
import { route } from "../foundation/route.ts";
import { neverExpires, pageOf } from "./files-routes.ts";

const { createBatch, listBatches, readBatch, cancelBatch } = doorOperations;

/** Batches of the OpenAI protocol. */
export const batchesRoutes: DoorRoutes = (app, { batches }) => {
  route(app, createBatch, async ({ caller, body, request }) => {
    const { input_file_id: inputFileId, endpoint, metadata = null } = body;
    if (isRecord(request.body) && request.body.output_expires_after != null) throw neverExpires("output_expires_after");
    // A person who acts for a team may have opted out, and the lines run with the key of the member.
    const keepsInputs = caller.keepsInputs && originOf(request).keepsInput;
    const { baseUrl } = request;
    const batch = await batches.create({ caller, endpoint, inputFileId, metadata, baseUrl, keepsInputs });
    return batchToWire(batch);
  });

  route(app, listBatches, async ({ caller, query: { limit, after } }) => {
    const found = await batches.list(scopeOf(caller), { after, limit: limit + 1 });
    return pageOf(found.map(batchToWire), limit);
  });

  route(app, readBatch, async ({ caller, params }) =>
    batchToWire(await batches.find(scopeOf(caller), params.batch_id)),
  );

  route(app, cancelBatch, async ({ caller, params }) =>
    batchToWire(await batches.cancel(scopeOf(caller), params.batch_id)),
  );
};

export function batchToWire(batch: Batch): BatchRecord {
  const { status, errors, total, completed, failed, endedAt } = batch;
  const endedAs = (wanted: Batch["status"]) => (status === wanted ? seconds(endedAt) : null);
  return {
    id: batch.id,
    object: "batch",
    endpoint: batch.endpoint,
    errors: errors && { object: "list", data: [...errors] },
    input_file_id: batch.inputFileId,
    completion_window: "24h",
    status,
    output_file_id: batch.outputFileId,
    error_file_id: batch.errorFileId,
    created_at: seconds(batch.createdAt) ?? 0,
    in_progress_at: seconds(batch.inProgressAt),
    expires_at: seconds(batch.expiresAt) ?? 0,
    finalizing_at: seconds(batch.finalizingAt),
    completed_at: endedAs("completed"),
    failed_at: endedAs("failed"),
    expired_at: endedAs("expired"),
    cancelling_at: seconds(batch.cancellingAt),
    cancelled_at: endedAs("cancelled"),
    request_counts: { total, completed, failed },
    metadata: batch.metadata,
  };
}

function seconds(moment: Date | null): number | null {
  return moment && Math.floor(moment.getTime() / 1000);
}
