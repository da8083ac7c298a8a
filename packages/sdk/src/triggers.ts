import type {
  ChangeTriggerBody,
  CreateTriggerBody,
  TriggerDeliveryRecord,
  TriggerRecord,
  TriggerWithUrlRecord,
} from "@gantry/wire";
import { at } from "./address.ts";
import { eachListed, type ListRange } from "./pages.ts";
import type { CallOptions, Transport } from "./transport.ts";

export interface TriggerFilter {
  agent_id?: string | undefined;
}

export interface TriggerList {
  triggers: TriggerRecord[];
  total: number;
  limit: number;
  offset: number;
}

export interface TriggerDeliveryList {
  deliveries: TriggerDeliveryRecord[];
  total: number;
  limit: number;
  offset: number;
}

/** Addresses to which other services post to start runs. The agents platform is a preview. */
export interface Triggers {
  /** The `url` of the answer contains a secret and is not shown again. */
  create(agentId: string, trigger?: CreateTriggerBody, options?: CallOptions): Promise<TriggerWithUrlRecord>;
  get(id: string, options?: CallOptions): Promise<TriggerRecord>;
  /** One page, newest first. */
  list(options?: TriggerFilter & ListRange & CallOptions): Promise<TriggerList>;
  /** Iterates over all entries, newest first, page by page. */
  each(options?: TriggerFilter & CallOptions): AsyncGenerator<TriggerRecord>;
  /** Send only the fields to change. `enabled: true` also resumes a paused trigger. */
  update(id: string, change: ChangeTriggerBody, options?: CallOptions): Promise<TriggerRecord>;
  delete(id: string, options?: CallOptions): Promise<void>;
  /** Replaces the `url`. The old one stops working at once. */
  rotate(id: string, options?: CallOptions): Promise<TriggerWithUrlRecord>;
  /** One page of what the trigger received, newest first. */
  deliveries(id: string, options?: ListRange & CallOptions): Promise<TriggerDeliveryList>;
}

export function triggers({ json, send }: Transport): Triggers {
  const one = (id: string) => ({ trigger_id: id });
  const all: Triggers = {
    create: async (agent_id, trigger = {}, { signal } = {}) =>
      json({ ...at("POST /v1/agents/{agent_id}/triggers", { agent_id }), json: trigger, signal }),
    get: async (id, { signal } = {}) => json({ ...at("GET /v1/triggers/{trigger_id}", one(id)), signal }),
    list: async ({ signal, ...query } = {}) => json({ ...at("GET /v1/triggers"), query, signal }),
    each: (options) =>
      eachListed(
        async (range) => {
          const { triggers: entries, total } = await all.list({ ...options, ...range });
          return { entries, total };
        },
        ({ id }) => id,
      ),
    update: async (id, change, { signal } = {}) =>
      json({ ...at("PATCH /v1/triggers/{trigger_id}", one(id)), json: change, signal }),
    async delete(id, { signal } = {}) {
      await send({ ...at("DELETE /v1/triggers/{trigger_id}", one(id)), signal });
    },
    rotate: async (id, { signal } = {}) => json({ ...at("POST /v1/triggers/{trigger_id}/rotate", one(id)), signal }),
    deliveries: async (id, { signal, ...query } = {}) =>
      json({ ...at("GET /v1/triggers/{trigger_id}/deliveries", one(id)), query, signal }),
  };
  return all;
}
