import { type DeliveryRecord, deliveriesQuery, isId, type WebhookSecretsRecord } from "@gantry/wire";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Delivery, Webhooks } from "../../features/webhooks/index.ts";
import { fault } from "../../kernel/errors.ts";
import { parseOrThrow } from "../../kernel/schema-issues.ts";
import { acceptEmptyBodies } from "../foundation/accept-empty-bodies.ts";
import { listEnvelope, readPageQuery } from "../foundation/page-query.ts";

export interface WebhookRouteDeps {
  webhooks: Webhooks;
  callerOf(request: FastifyRequest): Promise<Caller>;
}

/** What became of the caller's webhooks, and the secrets that sign them. To be registered in a scope of its own. */
export function webhookRoutes(app: FastifyInstance, { webhooks, callerOf }: WebhookRouteDeps): void {
  // Before the body is read: whoever has no key sends nothing that is looked at.
  app.addHook("onRequest", async (request) => {
    await callerOf(request);
  });
  acceptEmptyBodies(app);

  app.get("/api/v2/webhooks/deliveries", async (request) => {
    const caller = await callerOf(request);
    const page = readPageQuery(request.query);
    const { prediction_id: predictionId, status } = parseOrThrow(deliveriesQuery, request.query, ["query"]);
    // A text that is no id names nothing; it also never reaches the database.
    if (predictionId !== undefined && !isId("prediction", predictionId)) return listEnvelope([], page, 0);
    const { deliveries, total } = await webhooks.list(scopeOf(caller), { predictionId, status }, page);
    return listEnvelope(deliveries.map(toWire), page, total);
  });

  app.post<{ Params: { id: string } }>("/api/v2/webhooks/deliveries/:id/resend", async (request) => {
    const { id } = request.params;
    const caller = await callerOf(request);
    if (!isId("delivery", id)) throw fault("not_found", "Delivery not found");
    return toWire(await webhooks.resend(scopeOf(caller), id));
  });

  app.get("/api/v2/webhooks/secret", async (request): Promise<WebhookSecretsRecord> => {
    const { userId } = await callerOf(request);
    return { secrets: await webhooks.secrets(userId) };
  });

  app.post("/api/v2/webhooks/secret/rotate", async (request): Promise<WebhookSecretsRecord> => {
    const { userId } = await callerOf(request);
    return { secrets: await webhooks.rotateSecret(userId) };
  });
}

function toWire(delivery: Delivery): DeliveryRecord {
  return {
    id: delivery.id,
    prediction_id: delivery.predictionId,
    url: delivery.url,
    status: delivery.status,
    attempts: delivery.attempts,
    latency_ms: delivery.latencyMs,
    next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
    last_error: delivery.lastError,
    created_at: delivery.createdAt.toISOString(),
  };
}
