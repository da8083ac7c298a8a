import type { Sql } from "../../engines/database/database.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { changedNames, record } from "../audit/index.ts";
import type { Schedule, ScheduleSettings } from "./schedule.ts";

type Recorded = ScheduleSettings & Pick<Schedule, "id" | "userId" | "agentId">;

export function recordSchedule(
  tx: Sql,
  action: "schedule.create" | "schedule.update" | "schedule.delete",
  { before, after }: { before?: Recorded; after?: Recorded },
): Promise<void> {
  const schedule = after ?? before;
  if (!schedule) throw new Error("a record of no schedule");
  const changed = before && after ? changedNames(settingsOf(before), settingsOf(after)) : undefined;
  return record(tx, {
    action,
    object: { id: schedule.id, name: schedule.name },
    ownerId: schedule.userId,
    before: before && fieldsOf(before),
    after: after && { ...fieldsOf(after), changed },
  });
}

function settingsOf({ name, input, missed, overlap, enabled, maxCost, threadId, expectedPrice, ...rest }: Recorded) {
  const { approve, connectors, cron, timezone } = rest;
  return {
    name,
    input,
    missed,
    overlap,
    enabled,
    maxCost,
    threadId,
    expectedPrice,
    approve,
    connectors,
    cron,
    timezone,
  };
}

function fieldsOf({ name, agentId, cron, timezone, enabled, maxCost, approve, connectors }: Recorded) {
  const max_cost = maxCost === null ? null : dollarsOfMicros(maxCost);
  return { name, agent_id: agentId, cron, timezone, enabled, max_cost, approve, connectors };
}
