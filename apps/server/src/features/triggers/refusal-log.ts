import { newId } from "@gantry/wire";
import type { Database } from "../../engines/database/database.ts";
import type { Fault } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import { insertDelivery, type NewTriggerDelivery } from "./store.ts";

/** Stored for each trigger and node: a sender in a loop must not fill the table. */
const mostPerMinute = 30;
const minuteMs = 60_000;
const longestReason = 1_000;

/** Stores deliveries that started no run, so that the owner of the trigger can see why. */
export interface RefusalLog {
  note(triggerId: string, deliveryId: string | undefined, why: Fault): Promise<void>;
  noteDuplicate(triggerId: string, deliveryId: string | undefined, runId: string): Promise<void>;
}

export function createRefusalLog({ database, log }: { database: Database; log: Log }): RefusalLog {
  let counts = new Map<string, number>();
  let since = performance.now();

  function isAllowed(triggerId: string): boolean {
    if (performance.now() - since > minuteMs) {
      counts = new Map();
      since = performance.now();
    }
    const count = (counts.get(triggerId) ?? 0) + 1;
    counts.set(triggerId, count);
    return count <= mostPerMinute;
  }

  async function store(delivery: Omit<NewTriggerDelivery, "id">): Promise<void> {
    if (!isAllowed(delivery.triggerId)) return;
    // The answer to the sender does not depend on it.
    await insertDelivery(database.sql, { id: newId("delivery"), ...delivery }).catch((error: unknown) =>
      log.warn({ trigger_id: delivery.triggerId, err: error }, "Failed to store a refused delivery."),
    );
  }

  return {
    note: (triggerId, deliveryId, why) =>
      store({ triggerId, deliveryId, status: "refused", reason: reasonOf(why).slice(0, longestReason) }),
    noteDuplicate: (triggerId, deliveryId, runId) => store({ triggerId, deliveryId, status: "duplicate", runId }),
  };
}

/** Input faults name their field. */
function reasonOf({ issues, status }: Fault): string {
  if (status !== 422) return issues[0].msg;
  return issues.map(({ loc, msg }) => `${loc.slice(1).join(".") || loc.join(".")}: ${msg}`).join("; ");
}
