import { setTimeout as sleep } from "node:timers/promises";
import { isUnavailable } from "../../kernel/errors.ts";
import type { Run, RunEvent, Runs } from "../runs/index.ts";
import type { AgentRunEnd, RunAgent } from "./context.ts";

export type RunAgentDeps = Pick<Runs, "create" | "awaitEnd" | "cancel" | "follow" | "listEvents">;

/** The longest wait of an MCP client. The run continues afterwards. */
const waitMs = 10 * 60_000;
const eventsAtOnce = 500;
const retryMs = 1_000;

/**
 * Runs an agent for an MCP client that waits. Closing the connection cancels the run, and so does a confirmation: MCP
 * clients cannot answer one. Such agents are not offered, but a server or a sub-agent may have changed since.
 */
export function runAgentFor(runs: RunAgentDeps): RunAgent {
  return async (caller, { agentId, revisionId, input, baseUrl, signal, onNote }) => {
    const body = { input, revision_id: revisionId };
    const created = await runs.create({ caller, address: { agentId }, body, idempotencyKey: undefined, baseUrl });
    const over = new AbortController();
    const waits = AbortSignal.any([signal, over.signal]);
    const watching = watch(runs, created.run, waits, onNote).then((confirmation) => {
      if (confirmation !== undefined) over.abort();
      return confirmation;
    });
    // Handled below.
    watching.catch(() => over.abort());
    const reached = await runs.awaitEnd(created.run, waitMs, waits).finally(() => over.abort());
    const confirmation = await watching.catch(async (error) => {
      // Unwatched, the run could wait for a confirmation forever.
      await runs.cancel(caller, reached.id);
      throw error;
    });
    const mustEnd = signal.aborted || confirmation !== undefined;
    const run = mustEnd ? await runs.cancel(caller, reached.id) : reached;
    return endOf(run, confirmation);
  };
}

function endOf(run: Run, confirmation: Confirmation | undefined): AgentRunEnd {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = run;
  const usage = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
  const figures = { runId: run.id, costMicros: run.cost, usage };
  if (run.status === "done") return { ...figures, status: "done", output: { ...run.output } };
  if (confirmation) {
    const message = `The run needs a confirmation for ${confirmation.tool}, which MCP clients cannot give, and was cancelled. Start it with POST /v1/agents/${run.agentId}/runs, or change the agent.`;
    return { ...figures, status: "error", error: { type: "confirmation_required", message } };
  }
  return run.error ? { ...figures, status: "error", error: run.error } : { ...figures, status: "running" };
}

interface Confirmation {
  tool: string;
}

/** Reports the events of a run until it ends, needs a confirmation, or the signal aborts. */
async function watch(
  runs: RunAgentDeps,
  run: Run,
  signal: AbortSignal,
  report: (message: string) => void,
): Promise<Confirmation | undefined> {
  let last = 0;
  while (!signal.aborted) {
    try {
      for await (const _events of runs.follow(run, last, signal)) {
        for (const event of await runs.listEvents(run, last, eventsAtOnce)) {
          last = event.n;
          if (event.type === "confirmation_required") return { tool: String(event.data.tool) };
          const note = noteOf(event);
          if (note !== undefined) report(note);
        }
      }
      return undefined;
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      // Missed events are read when the database is back.
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

function noteOf({ type, data }: RunEvent): string | undefined {
  if (type === "planning" || type === "reasoning") return String(data.message);
  if (type === "tool_call") return `Calling ${data.tool}`;
  return type === "tool_result" ? `${data.tool} returned a result` : undefined;
}
