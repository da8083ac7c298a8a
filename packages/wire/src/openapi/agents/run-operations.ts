import {
  agentRunsQuery,
  confirmationsQuery,
  eventsQuery,
  liveEventsQuery,
  runQuery,
  runsQuery,
} from "../../agents-queries.ts";
import { runEventList } from "../../run-events.ts";
import {
  answerConfirmationBody,
  confirmationRecord,
  createRunBody,
  inboxConfirmation,
  runRecord,
  runSecretRecord,
} from "../../runs.ts";
import { runTrace, traceStepDetail } from "../../traces.ts";
import { groupOf } from "../operation.ts";

const creation = {
  method: "post",
  description:
    "The answer comes at once, as `pending`, unless you set `wait`. The run ends as `done` or `error` even if you do not wait.",
  body: createRunBody,
  example: { input: { code: "6 * 7" }, wait: 30 },
  answer: runRecord,
  status: 201,
  headers: ["Idempotency-Key"],
  fails: [403, 409, 429],
} as const;

export const runGroup = groupOf("/v1", {
  tag: "Runs",
  description: "A run is one execution of an agent. Runs survive the failure of any process.",
  operations: {
    createRun: { path: "/agents/{agent_id}/runs", summary: "Run an agent", ...creation },
    createMarketplaceRun: {
      path: "/agents/{creator_username}/{agent_slug}/runs",
      summary: "Run a marketplace agent",
      ...creation,
    },
    listAgentRuns: {
      method: "get",
      path: "/agents/{agent_id}/runs",
      summary: "List the runs of an agent",
      description: "Newest first. For runs of other users you see only their status and what you earned.",
      answer: runRecord,
      list: "runs",
      query: agentRunsQuery,
    },
    listRuns: {
      method: "get",
      path: "/runs",
      summary: "List your runs, or the child runs of one run",
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
      summary: "Cancel a run and its descendants",
      description: "A run that has ended does not change.",
      answer: runRecord,
    },
    followRun: {
      method: "get",
      path: "/runs/{run_id}/events",
      summary: "Follow a run as Server-Sent Events",
      description:
        "Past events, then new ones, until `completed` or `error`. After a lost connection you can resume on any node. For one response without streaming use `listRunEvents`.",
      answer: {
        media: "text/event-stream",
        description:
          "`event` is the type of a `RunEvent`, `data` its fields as JSON (for `completed` the output), `id` its number. With `text=true` also `text` events, with `step`, `call_id`, `kind`, `offset` and `text`.",
      },
      query: liveEventsQuery,
      headers: ["Last-Event-ID"],
      also: [204],
    },
    listRunEvents: {
      method: "get",
      path: "/runs/{run_id}/events/list",
      summary: "List the events of a run",
      description: "Events so far. If there are more, `next_after` says where to continue.",
      answer: runEventList,
      query: eventsQuery,
      headers: ["Last-Event-ID"],
    },
    readTrace: {
      method: "get",
      path: "/runs/{run_id}/trace",
      summary: "Read the trace of a run",
      description:
        "Model calls, tool calls, sub-agents and waits with their times, tokens and cost, also while the run is under way. Only for the caller of the run.",
      answer: runTrace,
    },
    readTraceStep: {
      method: "get",
      path: "/runs/{run_id}/trace/{step_id}",
      summary: "Read a step of a trace",
      description: "The step with its messages, arguments and result.",
      answer: traceStepDetail,
    },
    listAllConfirmations: {
      method: "get",
      path: "/confirmations",
      summary: "List the confirmations of all your runs",
      description: "Newest first. With `status=pending`: everything that waits for your answer.",
      answer: inboxConfirmation,
      list: "confirmations",
      query: confirmationsQuery,
    },
    listConfirmations: {
      method: "get",
      path: "/runs/{run_id}/confirmations",
      summary: "List the confirmations of a run",
      answer: confirmationRecord,
      list: "confirmations",
    },
    answerConfirmation: {
      method: "post",
      path: "/runs/{run_id}/confirmations/{confirmation_id}",
      summary: "Approve or deny a confirmation",
      description:
        "Each confirmation can be answered once and covers exactly these arguments. After 24 hours without an answer it counts as denied.",
      body: answerConfirmationBody,
      example: { approve: true },
      answer: confirmationRecord,
      fails: [403, 409],
    },
    fetchRunSecret: {
      method: "get",
      path: "/runs/{run_id}/secrets/{secret_id}",
      summary: "Fetch a secret created by a run",
      description:
        "For example the secret of a client that a tool created. It is shown once: a second call answers 404.",
      answer: runSecretRecord,
      fails: [403],
    },
  },
});
