import { isId, type PredictionRecord, type PredictionSummary, predictionsQuery } from "@gantry/wire";
import { accountOperations } from "@gantry/wire/operations";
import type { FastifyInstance } from "fastify";
import { type Caller, isConfined, scopeOf } from "../../features/accounts/index.ts";
import { shownMoment } from "../../features/billing/index.ts";
import { type History, type ListedPrediction, type ShownPrediction, statusOf } from "../../features/history/index.ts";
import { isAdmin } from "../../features/models/index.ts";
import { fault } from "../../kernel/errors.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { listEnvelope, rangeOf } from "../foundation/page-query.ts";
import { acceptEmptyBodies } from "../foundation/parse-json.ts";
import { route } from "../foundation/route.ts";
import { readDatedListQuery } from "./money-queries.ts";

const { listPredictions, readPrediction, deletePrediction } = accountOperations;

/** The predictions of the caller, with their inputs and outputs. */
export async function predictionRoutes(app: FastifyInstance, { history }: { history: History }): Promise<void> {
  acceptEmptyBodies(app);

  route(app, listPredictions, { unchecked: "query" }, async ({ caller, request }) => {
    const { page, range } = readDatedListQuery(request.query, predictionsQuery);
    const {
      model,
      status,
      mode,
      key_id: keyId,
      agent_id: agentId,
      run_id: runId,
      q,
    } = predictionsQuery.parse(request.query);
    const filter = { model, status, mode, keyId, agentId, runId, q };
    const found = await history.listPredictions(scopeOf(caller), {
      filter,
      range,
      page: rangeOf(page),
      base: request.baseUrl,
    });
    const results = found.entries.map((entry) => summaryToWire(entry, caller));
    const searchedFrom = found.searchedFrom === null ? null : shownMoment(found.searchedFrom);
    return { ...listEnvelope(results, page, found.total), searched_from: searchedFrom };
  });

  route(app, readPrediction, async ({ caller, params: { id }, request }) =>
    predictionToWire(await history.readPrediction(scopeOf(caller), checkedId(id), request.baseUrl), caller),
  );

  route(app, deletePrediction, async ({ caller, params: { id } }) => {
    await history.deleteContent(scopeOf(caller), checkedId(id));
  });
}

function checkedId(id: string): string {
  if (!isId("prediction", id)) throw fault("not_found", "Prediction not found");
  return id;
}

/** Only owners and admins see the names of backends, which can reveal vendors. */
function seesBackend(caller: Caller, { modelName }: ListedPrediction): boolean {
  return isAdmin(caller) || (!isConfined(caller) && modelName.startsWith(`${caller.username}/`));
}

function summaryToWire(one: ListedPrediction, caller: Caller): PredictionSummary {
  const { startedAt, createdAt, file } = one;
  const queuedMs = startedAt && startedAt.getTime() - createdAt.getTime();
  return {
    id: one.id,
    model_name: one.modelName,
    mode: one.route,
    status: statusOf(one),
    status_code: one.status,
    created_at: createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    ended_at: one.endedAt && shownMoment(one.endedAt),
    queued_time: queuedMs === null ? null : Math.max(0, queuedMs) / 1000,
    inference_time: one.inferenceMs === null ? null : one.inferenceMs / 1000,
    input_tokens: one.inputTokens,
    output_tokens: one.outputTokens,
    cached_tokens: one.cachedTokens,
    cache_write_tokens: one.cacheWriteTokens,
    price: one.price === null ? null : dollarsOfMicros(one.price),
    reserved: dollarsOfMicros(one.reserved),
    door: one.door as PredictionSummary["door"],
    backend: seesBackend(caller, one) ? one.backend : null,
    key: one.key,
    run_id: one.runId,
    agent: one.agent,
    batch_id: one.batchId,
    preview: {
      input: one.previewOfInput,
      output: one.previewOfOutput,
      file: file && { url: file.url, content_type: file.contentType, link: file.link },
    },
  };
}

export function predictionToWire(one: ShownPrediction, caller: Caller): PredictionRecord {
  return {
    ...summaryToWire(one, caller),
    request_id: one.requestId,
    trace_id: one.traceId,
    input: one.input,
    input_state: one.inputState,
    input_truncated: one.isTruncated,
    output: one.output,
    files: one.files,
    error: one.error?.map((issue) => ({ ...issue, loc: [...issue.loc] })) ?? null,
    text: one.text,
    stream_details: one.streamDetails,
    webhook: one.webhook && { delivery_id: one.webhook.id, status: one.webhook.status },
  };
}
