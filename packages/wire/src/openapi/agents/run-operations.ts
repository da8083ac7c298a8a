import { agentRunsQuery, eventsQuery, liveEventsQuery, runQuery, runsQuery } from "../../agents-queries.ts";
import { runEventList } from "../../run-events.ts";
import { answerConfirmationBody, confirmationRecord, createRunBody, runRecord, runSecretRecord } from "../../runs.ts";
import { groupOf } from "../operation.ts";

const creation = {
  method: "post",
  description:
    "The answer comes at once, as `pending`, unless `wait` holds it. The run ends as `done` or `error` whether or not anybody waits for it.",
  body: createRunBody,
  example: { input: { code: "6 * 7" }, wait: 30 },
  answer: runRecord,
  status: 201,
  headers: ["Idempotency-Key"],
  fails: [403, 409, 429],
} as const;

export const runGroup = groupOf("/v1", {
  tag: "Runs",
  description: "What an agent does with one input. A run survives every process that works on it.",
  operations: {
    createRun: { path: "/agents/{agent_id}/runs", summary: "Run an agent", ...creation },
    createMarketplaceRun: {
      path: "/agents/{creator_username}/{agent_slug}/runs",
      summary: "Run an agent of the marketplace",
      ...creation,
    },
    listAgentRuns: {
      method: "get",
      path: "/agents/{agent_id}/runs",
      summary: "List the runs of an agent",
      description: "Newest first. Of other users' runs only that they ran and what they earned.",
      answer: runRecord,
      list: "runs",
      query: agentRunsQuery,
    },
    listRuns: {
      method: "get",
      path: "/runs",
      summary: "List your runs, or those that one of them started",
      description: "Newest first.",
      answer: runRecord,
      list: "runs",
      query: runsQuery,
    },
    readRun: {
      method: "get",
      path: "/runs/{run_id}",
      summary: "Read a run",
      answer: runRecord,
      query: runQuery,
    },
    cancelRun: {
      method: "post",
      path: "/runs/{run_id}/cancel",
      summary: "Cancel a run and all that it started",
      description: "A run that has ended stays as it is.",
      answer: runRecord,
    },
    followRun: {
      method: "get",
      path: "/runs/{run_id}/events",
      summary: "Follow a run as Server-Sent Events",
      description:
        "First what happened, then what happens, until `completed` or `error`. A reader that was cut off goes on where it stopped, on any node. The same as one answer: `listRunEvents`.",
      answer: {
        media: "text/event-stream",
        description:
          "`event` is the type of a `RunEvent`, `data` its fields as JSON (of `completed` the output), `id` its number.",
      },
      query: liveEventsQuery,
      headers: ["Last-Event-ID"],
      also: [204],
    },
    listRunEvents: {
      method: "get",
      path: "/runs/{run_id}/events/list",
      summary: "The events of a run",
      description: "Those so far; `next_after` tells where to go on when there are more than one answer holds.",
      answer: runEventList,
      query: eventsQuery,
      headers: ["Last-Event-ID"],
    },
    listConfirmations: {
      method: "get",
      path: "/runs/{run_id}/confirmations",
      summary: "The questions of a run",
      answer: confirmationRecord,
      list: "confirmations",
    },
    answerConfirmation: {
      method: "post",
      path: "/runs/{run_id}/confirmations/{confirmation_id}",
      summary: "Approve or deny, once",
      description: "An answer is for those very arguments. Unanswered for 24 hours it is a no.",
      body: answerConfirmationBody,
      example: { approve: true },
      answer: confirmationRecord,
      fails: [403, 409],
    },
    fetchRunSecret: {
      method: "get",
      path: "/runs/{run_id}/secrets/{secret_id}",
      summary: "Fetch a secret that a run made, once",
      description:
        "Such as the secret of a client that a tool created. Nothing else shows it, and a second call is a 404.",
      answer: runSecretRecord,
      fails: [403],
    },
  },
});
