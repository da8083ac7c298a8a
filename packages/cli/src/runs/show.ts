import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago, count, money, seconds, time } from "../frame/format.rules.ts";
import { statusOf } from "./list.ts";
import { pendingOf, printPending } from "./pending.ts";
import { resultText } from "./run-text.rules.ts";
import { printTrace } from "./trace.ts";

export async function showRun(context: Context): Promise<number> {
  const { out } = context;
  const [id = ""] = context.words;
  const client = await context.client();
  const run = await client.runs.get(id);
  if (context.flag("json")) {
    out.json(run);
    return exitCodes.done;
  }
  const { usage, source } = run;
  out.details([
    ["Run", run.id],
    ["Agent", `${run.agent_name} (${run.agent_id})`],
    ["Revision", run.revision_id],
    ["Status", run.status === "running" ? `running, ${run.phase.replace("_", " ")}` : statusOf(run)],
    ["Error", run.error?.message],
    ["Parent run", run.parent_run_id],
    ["Thread", run.thread_id],
    ["Started by", source && `${source.type} ${source.id}`],
    ["Created", `${time(run.created_at)} (${ago(run.created_at)})`],
    ["Worked", seconds(run.worked_ms / 1000)],
    ["Waited", run.waited_ms >= 1000 ? seconds(run.waited_ms / 1000) : undefined],
    ["Tokens", usage && `${count(usage.input_tokens)} in, ${count(usage.output_tokens)} out`],
    ["Cost", run.cost === undefined ? undefined : money(run.cost)],
    ["Earned", run.earned === undefined ? undefined : money(run.earned)],
    ["Input", run.input && JSON.stringify(run.input, null, 2)],
    ["Output", run.output && resultText(run.output)],
  ]);
  // The creator of an agent sees runs of other users without their trace.
  if (run.input === undefined) return exitCodes.done;
  const trace = await client.runs.trace(id);
  out.line("");
  printTrace(out, trace, false);
  if (run.phase === "awaiting_confirmation") printPending(out.note, id, await pendingOf(client, id));
  return exitCodes.done;
}
