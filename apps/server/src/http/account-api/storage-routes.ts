import { type DeliveryDetailsRecord, type DeliveryRecord, type FileRecord, filesQuery, isId } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { scopeOf } from "../../features/accounts/index.ts";
import type { Files, ListedFile } from "../../features/files/index.ts";
import {
  type Delivery,
  type DeliveryDetails,
  isOfNotice,
  isTest,
  type Webhooks,
} from "../../features/webhooks/index.ts";
import { fault } from "../../kernel/errors.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";
import { readDatedListQuery } from "./money-queries.ts";

const operations = accountOperations;

export interface StorageRouteDeps {
  files: Files;
  webhooks: Webhooks;
}

/** Files and webhooks of the caller. */
export async function storageRoutes(app: FastifyInstance, deps: StorageRouteDeps): Promise<void> {
  acceptEmptyBodies(app);
  fileRoutes(app, deps);
  webhookRoutes(app, deps);
}

function fileRoutes(app: FastifyInstance, { files }: StorageRouteDeps): void {
  route(app, operations.listFiles, { unchecked: "query" }, async ({ caller, request }) => {
    const { page, range } = readDatedListQuery(request.query, filesQuery);
    const { q, origin } = filesQuery.parse(request.query);
    const wanted = { q, origin, from: dateOf(range.from), to: dateOf(range.to), base: request.baseUrl };
    const { entries, total, searchedFrom } = await files.listFiles(scopeOf(caller), wanted, rangeOf(page));
    const found = listEnvelope(entries.map(fileToWire), page, total);
    return { ...found, searched_from: searchedFrom?.toISOString() ?? null };
  });

  route(app, operations.deleteFile, async ({ caller, params: { id } }) => {
    if (!isId("file", id)) throw fault("not_found", "File not found");
    await files.deleteFile(scopeOf(caller), id);
  });
}

function dateOf(moment: string | undefined): Date | undefined {
  return moment === undefined ? undefined : new Date(moment);
}

export function webhookRoutes(app: FastifyInstance, { webhooks }: Pick<StorageRouteDeps, "webhooks">): void {
  route(app, operations.listDeliveries, async ({ caller, query }) => {
    const { prediction_id: predictionId, run_id: runId, notice_id: noticeId, status } = query;
    if (noticeId !== undefined && !isId("notice", noticeId)) return listEnvelope([], query, 0);
    if (predictionId !== undefined && !isId("prediction", predictionId) && !isId("event", predictionId))
      return listEnvelope([], query, 0);
    if (runId !== undefined && !isId("run", runId)) return listEnvelope([], query, 0);
    const filter = { predictionId, runId, noticeId, status };
    const { deliveries, total } = await webhooks.list(scopeOf(caller), filter, rangeOf(query));
    return listEnvelope(deliveries.map(deliveryToWire), query, total);
  });

  route(app, operations.readDelivery, async ({ caller, params: { id } }) => {
    if (!isId("delivery", id)) throw fault("not_found", "Delivery not found");
    return deliveryDetailsToWire(await webhooks.read(scopeOf(caller), id));
  });

  route(app, operations.sendTestEvent, async ({ caller, body: { url } }) =>
    deliveryToWire(await webhooks.sendTest(caller.userId, url)),
  );

  route(app, operations.resendDelivery, async ({ caller, params: { id } }) => {
    if (!isId("delivery", id)) throw fault("not_found", "Delivery not found");
    return deliveryToWire(await webhooks.resend(scopeOf(caller), id));
  });

  route(app, operations.readWebhookSecrets, async ({ caller }) => ({ secrets: await webhooks.secrets(caller.userId) }));

  route(app, operations.rotateWebhookSecret, async ({ caller }) => ({
    secrets: await webhooks.rotateSecret(caller.userId),
  }));
}

export function fileToWire(file: ListedFile): FileRecord {
  return {
    id: file.id,
    s3_path: file.s3Path,
    origin: file.origin,
    content_type: file.contentType,
    size: file.size,
    prediction_id: file.predictionId,
    model_name: file.modelName,
    prompt: file.prompt,
    link: file.link,
    created_at: file.createdAt.toISOString(),
    stored_at: file.storedAt?.toISOString() ?? null,
  };
}

function deliveryToWire(delivery: Delivery): DeliveryRecord {
  return {
    id: delivery.id,
    kind: kindOf(delivery),
    prediction_id: delivery.runId === null && !isOfNotice(delivery) ? delivery.predictionId : null,
    run_id: delivery.runId,
    notice_id: isOfNotice(delivery) ? delivery.predictionId : null,
    event: delivery.event,
    url: delivery.url,
    status: delivery.status,
    attempts: delivery.attempts,
    latency_ms: delivery.latencyMs,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
  };
}

function kindOf(delivery: Delivery): DeliveryRecord["kind"] {
  if (delivery.runId !== null) return "run";
  if (isOfNotice(delivery)) return "notice";
  return isTest(delivery) ? "test" : "prediction";
}

export function deliveryDetailsToWire({
  headers,
  payload,
  attemptLog,
  ...delivery
}: DeliveryDetails): DeliveryDetailsRecord {
  return {
    ...deliveryToWire(delivery),
    headers,
    payload,
    attempt_log: attemptLog.map(({ number, at, status, error, latencyMs, responseBody }) => ({
      number,
      at: at?.toISOString() ?? null,
      status,
      error,
      latency_ms: latencyMs,
      response_body: responseBody,
    })),
  };
}
