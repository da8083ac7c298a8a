import { listQuery } from "../../agents-queries.ts";
import { runRecord } from "../../runs.ts";
import { changeScheduleBody, createScheduleBody, scheduleRecord, schedulesQuery } from "../../schedules.ts";
import { groupOf } from "../operation.ts";

export const scheduleGroup = groupOf("/v1", {
  tag: "Schedules",
  description:
    "A schedule runs an agent at times that a cron expression gives, with the key that created or last changed it. Each due time creates one run.",
  operations: {
    createSchedule: {
      method: "post",
      path: "/agents/{agent_id}/schedules",
      summary: "Schedule an agent",
      description: "Your own agent, or another user's public agent. You pay for its runs.",
      body: createScheduleBody,
      example: { cron: "0 9 * * MON-FRI", timezone: "Europe/Berlin", input: { code: "6 * 7" } },
      answer: scheduleRecord,
      status: 201,
      fails: [403, 409],
    },
    listAgentSchedules: {
      method: "get",
      path: "/agents/{agent_id}/schedules",
      summary: "List your schedules of an agent",
      description: "Newest first.",
      answer: scheduleRecord,
      list: "schedules",
      query: listQuery,
    },
    listSchedules: {
      method: "get",
      path: "/schedules",
      summary: "List your schedules",
      description: "Newest first.",
      answer: scheduleRecord,
      list: "schedules",
      query: schedulesQuery,
    },
    readSchedule: {
      method: "get",
      path: "/schedules/{schedule_id}",
      summary: "Read a schedule",
      answer: scheduleRecord,
    },
    changeSchedule: {
      method: "patch",
      path: "/schedules/{schedule_id}",
      summary: "Change a schedule",
      description:
        "Send only the fields to change. Later runs use the key of this request. `enabled: true` ends a pause.",
      body: changeScheduleBody,
      example: { enabled: false },
      answer: scheduleRecord,
      fails: [403, 409],
    },
    deleteSchedule: {
      method: "delete",
      path: "/schedules/{schedule_id}",
      summary: "Delete a schedule",
      description: "Its runs stay.",
      status: 204,
      fails: [403],
    },
    runSchedule: {
      method: "post",
      path: "/schedules/{schedule_id}/run",
      summary: "Run a schedule now",
      description:
        "Creates a run with the schedule's input and the key of this request, also if the schedule is disabled or paused. Due times do not change.",
      answer: runRecord,
      status: 201,
      headers: ["Idempotency-Key"],
      fails: [403, 409, 429],
    },
  },
});
