import type { TriggerDeliveryRecord, TriggerRecord } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { ListedTrigger, TriggerDelivery, Triggers } from "../../features/triggers/index.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";

const operations = agentsOperations;

/** Managing triggers. Deliveries arrive at `hooks-api`. */
export function triggerRoutes(triggers: Triggers): AgentsRoutes {
  const urlOf = (base: string, { id }: ListedTrigger, secret: string) => `${base}/hooks/${id}/${secret}`;
  return (app) => {
    route(app, operations.createTrigger, { unchecked: "body" }, async ({ caller, params, body, request, reply }) => {
      const { trigger, secret } = await triggers.createTrigger(caller, params.agent_id, body);
      reply.header("cache-control", "no-store");
      return { ...triggerRecord(trigger), url: urlOf(request.baseUrl, trigger, secret) };
    });

    route(app, operations.listAgentTriggers, async ({ caller, params, query }) => {
      const { entries, total } = await triggers.listTriggersOfAgent(caller, params.agent_id, query);
      return { triggers: entries.map(triggerRecord), total, limit: query.limit, offset: query.offset };
    });

    route(app, operations.listTriggers, async ({ caller, query: { agent_id: agentId, limit, offset } }) => {
      const { entries, total } = await triggers.listTriggers(caller, { agentId, limit, offset });
      return { triggers: entries.map(triggerRecord), total, limit, offset };
    });

    route(app, operations.readTrigger, async ({ caller, params }) =>
      triggerRecord(await triggers.readTrigger(caller, params.trigger_id)),
    );

    route(app, operations.changeTrigger, { unchecked: "body" }, async ({ caller, params, body }) =>
      triggerRecord(await triggers.changeTrigger(caller, params.trigger_id, body)),
    );

    route(app, operations.deleteTrigger, ({ caller, params }) => triggers.removeTrigger(caller, params.trigger_id));

    route(app, operations.rotateTrigger, async ({ caller, params, request, reply }) => {
      const { trigger, secret } = await triggers.rotateTrigger(caller, params.trigger_id);
      reply.header("cache-control", "no-store");
      return { ...triggerRecord(trigger), url: urlOf(request.baseUrl, trigger, secret) };
    });

    route(app, operations.listTriggerDeliveries, async ({ caller, params, query }) => {
      const { entries, total } = await triggers.readDeliveries(caller, params.trigger_id, query);
      return { deliveries: entries.map(triggerDeliveryRecord), total, limit: query.limit, offset: query.offset };
    });
  };
}

export function triggerRecord(trigger: ListedTrigger): TriggerRecord {
  const { id, name, input, verification, enabled, overlap, pausedReason } = trigger;
  return {
    id,
    agent_id: trigger.agentId,
    agent_name: trigger.agentName,
    name,
    input: input && { ...input },
    verification,
    delivery_id: trigger.deliveryId,
    enabled,
    overlap,
    max_cost: trigger.maxCost,
    approve: [...trigger.approve],
    connectors: [...trigger.connectors],
    thread_id: trigger.threadId,
    expected_price: trigger.expectedPrice,
    status: statusOf(trigger),
    paused_reason: pausedReason,
    last_delivery_at: trigger.lastDeliveryAt?.toISOString() ?? null,
    last_run_id: trigger.lastRunId,
    created_at: trigger.createdAt.toISOString(),
    updated_at: trigger.updatedAt.toISOString(),
  };
}

function statusOf({ enabled, pausedReason }: ListedTrigger): TriggerRecord["status"] {
  if (!enabled) return "disabled";
  return pausedReason === null ? "active" : "paused";
}

export function triggerDeliveryRecord({
  id,
  deliveryId,
  status,
  reason,
  runId,
  createdAt,
}: TriggerDelivery): TriggerDeliveryRecord {
  return {
    id,
    delivery_id: deliveryId,
    status,
    ...(reason !== null && { reason }),
    ...(runId !== null && { run_id: runId }),
    created_at: createdAt.toISOString(),
  };
}
