import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "../../kernel/errors.ts";
import type { Run, RunEvent, Runs } from "../runs/index.ts";
import type { AgentRunEnd, RunAgent } from "./context.ts";

export type RunAgentDeps = Pick<Runs, "create" | "awaitEnd" | "cancel" | "follow" | "listEvents">;

/** A caller of the MCP endpoint holds the line for this long; the run goes on behind it. */
const holdLineMs = 10 * 60_000;
const eventsAtOnce = 500;
const followAgainMs = 1_000;

/**
 * Runs an agent for a client that waits, as Gantry's own MCP endpoint does. A client that leaves cancels the run; so does
 * a question: only agents that ask nothing are offered, but a server may have got another tool since, or a sub-agent
 * another revision, and nobody here can answer.
 */
export function runAgentFor(runs: RunAgentDeps): RunAgent {
  return async (caller, { agentId, revisionId, input, baseUrl, signal, onNote }) => {
    const body = { input, revision_id: revisionId };
    const created = await runs.create({ caller, address: { agentId }, body, idempotencyKey: undefined, baseUrl });
    const over = new AbortController();
    const waits = AbortSignal.any([signal, over.signal]);
    const watching = watch(runs, created.run, waits, onNote).then((question) => {
      if (question !== undefined) over.abort();
      return question;
    });
    // It is told below.
    watching.catch(() => over.abort());
    const reached = await runs.awaitEnd(created.run, holdLineMs, waits).finally(() => over.abort());
    const question = await watching.catch(async (error) => {
      // Nobody would see it ask.
      await runs.cancel(caller, reached.id);
      throw error;
    });
    const isToEnd = signal.aborted || question !== undefined;
    const run = isToEnd ? await runs.cancel(caller, reached.id) : reached;
    return endOf(run, question);
  };
}

function endOf(run: Run, question: Question | undefined): AgentRunEnd {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = run;
  const usage = { inputTokens, outputTokens, cachedTokens, cacheWriteTokens };
  const figures = { runId: run.id, costMicros: run.cost, usage };
  if (run.status === "done") return { ...figures, status: "done", output: { ...run.output } };
  if (question) {
    const message = `It asked for a confirmation before calling ${question.tool}, which nobody can give here, and was cancelled. Start it with POST /v1/agents/${run.agentId}/runs to be asked, or change the agent.`;
    return { ...figures, status: "error", error: { type: "confirmation_required", message } };
  }
  return run.error ? { ...figures, status: "error", error: run.error } : { ...figures, status: "running" };
}

interface Question {
  tool: string;
}

/** Tells what happens in a run until it has ended, asks something, or nobody waits any longer. */
async function watch(
  runs: RunAgentDeps,
  run: Run,
  signal: AbortSignal,
  tell: (message: string) => void,
): Promise<Question | undefined> {
  let last = 0;
  while (!signal.aborted) {
    try {
      for await (const _news of runs.follow(run, last, signal)) {
        for (const event of await runs.listEvents(run, last, eventsAtOnce)) {
          last = event.n;
          if (event.type === "confirmation_required") return { tool: String(event.data.tool) };
          const note = noteOf(event);
          if (note !== undefined) tell(note);
        }
      }
      return undefined;
    } catch (error) {
      if (!(error instanceof Fault) || error.type !== "service_unavailable") throw error;
      // The database is away for a moment. What happened meanwhile is read when it is back.
      await sleep(followAgainMs, undefined, { signal }).catch(() => {});
    }
  }
  return undefined;
}

function noteOf({ type, data }: RunEvent): string | undefined {
  if (type === "planning" || type === "reasoning") return String(data.message);
  if (type === "tool_call") return `Calling ${data.tool}`;
  return type === "tool_result" ? `${data.tool} has answered` : undefined;
}
