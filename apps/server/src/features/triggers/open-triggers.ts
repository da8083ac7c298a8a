import { isId } from "@gantry/wire";
import { createBatcher } from "../../kernel/batcher.ts";
import { withContext } from "../../kernel/with-context.ts";
import type { TriggersContext } from "./context.ts";
import {
  changeTrigger,
  createTrigger,
  listTriggers,
  listTriggersOfAgent,
  readDeliveries,
  readTrigger,
  removeTrigger,
  rotateTrigger,
} from "./manage-triggers.ts";
import { type Arrival, type Received, receiveDelivery } from "./receive-delivery.ts";
import { createRefusalLog } from "./refusal-log.ts";
import { selectTriggers } from "./store.ts";
import { isSecretOf, type Trigger, triggerNotFound } from "./trigger.ts";

export type Triggers = ReturnType<typeof openTriggers>;

export function openTriggers(context: TriggersContext) {
  const { database } = context;
  const refusals = createRefusalLog(context);
  // One lookup runs at a time and serves all that wait, so that a flood of wrong addresses uses one connection.
  const lookups = createBatcher<string, Trigger | undefined>({
    maxItems: 500,
    blameItem: () => false,
    async run(ids) {
      const found = await selectTriggers(database.sql, [...new Set(ids)]);
      const byId = new Map(found.map((trigger) => [trigger.id, trigger]));
      return ids.map((id) => byId.get(id));
    },
  });

  return {
    ...withContext(context, {
      createTrigger,
      readTrigger,
      listTriggers,
      listTriggersOfAgent,
      changeTrigger,
      removeTrigger,
      rotateTrigger,
      readDeliveries,
    }),
    /** The trigger with this address. A wrong id and a wrong secret are the same fault. */
    async findByAddress(id: string, secret: string): Promise<Trigger> {
      const trigger = isId("trigger", id) ? await lookups.add(id) : undefined;
      if (!isSecretOf(trigger, secret) || !trigger) throw triggerNotFound();
      return trigger;
    },
    receive: (trigger: Trigger, arrival: Arrival): Promise<Received> =>
      receiveDelivery({ ...context, refusals }, trigger, arrival),
  };
}
