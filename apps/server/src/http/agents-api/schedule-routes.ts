import type { ScheduleRecord, ScheduleStatus } from "@gantry/wire";
import { agentsOperations } from "@gantry/wire/operations";
import type { FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { checkIdempotencyKey, rateHeaders } from "../../features/predictions/index.ts";
import type { Runs, ShownRun } from "../../features/runs/index.ts";
import { agentGone, isActive, type Schedule, type Schedules } from "../../features/schedules/index.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";
import { route } from "../foundation/route.ts";
import type { AgentsRoutes } from "./agents-api.ts";
import { runRecord } from "./run-records.ts";

const operations = agentsOperations;

export function scheduleRoutes(schedules: Schedules, runs: Pick<Runs, "show">): AgentsRoutes {
  const by = ({ caller, request }: { caller: Caller; request: FastifyRequest }) => ({
    caller,
    baseUrl: request.baseUrl,
  });
  return (app) => {
    route(app, operations.createSchedule, async (call) =>
      scheduleRecord(await schedules.create(by(call), call.params.agent_id, call.body)),
    );

    route(app, operations.listAgentSchedules, async ({ caller, params, query }) => {
      const { entries, total } = await schedules.listOfAgent(caller, params.agent_id, query);
      return { schedules: entries.map(scheduleRecord), total, ...query };
    });

    route(app, operations.listSchedules, async ({ caller, query }) => {
      const { limit, offset, agent_id: agentId } = query;
      const { entries, total } = await schedules.list(caller, { limit, offset, agentId });
      return { schedules: entries.map(scheduleRecord), total, limit, offset };
    });

    route(app, operations.readSchedule, async ({ caller, params }) =>
      scheduleRecord(await schedules.read(caller, params.schedule_id)),
    );

    route(app, operations.changeSchedule, async (call) =>
      scheduleRecord(await schedules.change(by(call), call.params.schedule_id, call.body)),
    );

    route(app, operations.deleteSchedule, ({ caller, params }) => schedules.remove(caller, params.schedule_id));

    route(app, operations.runSchedule, async (call) => {
      const { caller, params, request, reply } = call;
      const idempotencyKey = checkIdempotencyKey(request.headers["idempotency-key"]);
      const { run, rate } = await schedules.run(by(call), params.schedule_id, idempotencyKey);
      reply.headers(rateHeaders(rate));
      const [shown] = await runs.show(caller, [{ run, as: "caller" }]);
      return runRecord(shown as ShownRun);
    });
  };
}

const timeOf = (time: Date | null) => time?.toISOString() ?? null;
const dollarsIfAny = (micros: Micros | null) => (micros === null ? null : dollarsOfMicros(micros));

function statusOf(schedule: Schedule): ScheduleStatus {
  if (!schedule.enabled) return "disabled";
  return isActive(schedule) && !schedule.isAgentGone ? "active" : "paused";
}

export function scheduleRecord(schedule: Schedule): ScheduleRecord {
  const status = statusOf(schedule);
  return {
    id: schedule.id,
    agent_id: schedule.agentId,
    agent_name: schedule.agentName,
    name: schedule.name,
    cron: schedule.cron,
    timezone: schedule.timezone,
    input: { ...schedule.input },
    missed: schedule.missed,
    overlap: schedule.overlap,
    enabled: schedule.enabled,
    max_cost: dollarsIfAny(schedule.maxCost),
    approve: [...schedule.approve],
    connectors: [...schedule.connectors],
    thread_id: schedule.threadId,
    expected_price: dollarsIfAny(schedule.expectedPrice),
    status,
    // At the next due time the schedule would be paused for this reason.
    paused_reason: status === "paused" ? (schedule.pausedReason ?? agentGone) : null,
    next_times: status === "active" ? schedule.upcoming.map((time) => time.toISOString()) : [],
    last_due_at: timeOf(schedule.lastDueAt),
    last_run_id: schedule.lastRunId,
    last_skipped_at: timeOf(schedule.lastSkippedAt),
    skipped_reason: schedule.skippedReason,
    created_at: schedule.createdAt.toISOString(),
    updated_at: schedule.updatedAt.toISOString(),
  };
}
