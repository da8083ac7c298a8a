import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type FilesDeps, type PresignedUrl, presignDownload } from "../../features/files/index.ts";
import type { Model } from "../../features/models/index.ts";
import { rateHeaders, type StoredOutput } from "../../features/predictions/index.ts";
import { leaveBody } from "../multipart/index.ts";
import { acceptInput } from "./accept-input.ts";
import { clientPresence } from "./client-presence.ts";
import type { OfModel, RouteDeps } from "./deps.ts";

/** Text models and every model with a streamed output are called through the stream route only. */
export function isStreamingOnly(model: Model): boolean {
  return model.manifest.kind === "text" || streamedField(model) !== undefined;
}

export function streamedField(model: Model): string | undefined {
  return Object.entries(model.manifest.output.properties).find(([, field]) => field.isStream)?.[0];
}

export function predictRoute(app: FastifyInstance, deps: RouteDeps): void {
  app.post<OfModel>("/api/v1/:owner/:model/predict", async (request, reply) => {
    const caller = await deps.callerOf(request);
    const model = await deps.models.resolveForCall(caller, request.params.owner, request.params.model);
    if (isStreamingOnly(model)) return misdirected(request, reply, model);
    const client = clientPresence(reply);
    const input = await acceptInput(deps, request, { caller, model, route: "sync", signal: client });
    try {
      const { predictionId, outcome } = await deps.predictions.run({
        caller,
        model,
        route: "sync",
        input,
        onHeld: (held) => client.addEventListener("abort", () => held.stop("left"), { once: true }),
        onAccepted: (id, rate) => reply.headers({ "x-prediction-id": id, ...rateHeaders(rate) }),
      });
      if (outcome.kind === "failed") throw outcome.fault;
      return await reply.send({
        prediction_id: predictionId,
        status: 200,
        output_data: outcome.output,
        inference_time: Math.round(outcome.inferenceMs) / 1000,
        files: await linksOf(deps.files, model, outcome.output, request.baseUrl),
      });
    } finally {
      await input.dispose();
    }
  });
}

/** A ready download link for every file among the outputs, under the same field. */
export async function linksOf(
  files: FilesDeps,
  model: Model,
  output: StoredOutput,
  base: string,
): Promise<Record<string, PresignedUrl>> {
  const links: Record<string, PresignedUrl> = {};
  for (const [field, schema] of Object.entries(model.manifest.output.properties)) {
    const s3Path = output[field];
    if (schema.format === "binary" && typeof s3Path === "string")
      links[field] = await presignDownload(files, { s3Path, base });
  }
  return links;
}

/** The specification answers this inside a 200, with a status code of its own. */
function misdirected(request: FastifyRequest, reply: FastifyReply, model: Model): FastifyReply {
  leaveBody(request.raw);
  return reply.header("x-service-retryable", "false").send({
    detail: `This model streams its output: call POST /api/v1/${model.endpointId}/predict/stream/ instead`,
    status_code: 421,
  });
}
