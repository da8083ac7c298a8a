import type { RunTrace } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { money, seconds } from "../frame/format.rules.ts";
import type { Output } from "../frame/output.ts";
import { type TraceRow, traceRows } from "./trace.rules.ts";

export async function traceRun(context: Context): Promise<number> {
  const { out } = context;
  const [id = ""] = context.words;
  const client = await context.client();
  const step = context.text("step");
  if (step !== undefined) {
    // A step is messages and arguments of any shape: JSON is their form.
    out.json(await client.runs.traceStep(id, step));
    return exitCodes.done;
  }
  const trace = await client.runs.trace(id);
  if (context.flag("json")) {
    out.json(trace);
    return exitCodes.done;
  }
  const { agent, status, worked_ms, waited_ms, cost } = trace;
  const waited = waited_ms >= 1000 ? `, waited ${seconds(waited_ms / 1000)}` : "";
  out.line(`${agent.name} ${id}: ${status}, worked ${seconds(worked_ms / 1000)}${waited}, ${money(cost)}`);
  printTrace(out, trace, context.flag("ids"));
  return exitCodes.done;
}

export function printTrace(out: Output, trace: RunTrace, showsIds: boolean): void {
  const rows = traceRows(trace);
  out.table<TraceRow>(
    [
      { title: "step", value: ({ name }) => name },
      ...(showsIds ? [{ title: "id", value: ({ id }: TraceRow) => id }] : []),
      { title: "status", value: ({ status }) => status },
      { title: "time", value: (row) => row.time, align: "right" },
      { title: "cost", value: (row) => row.cost, align: "right" },
      { title: "tokens in/out", value: ({ tokens }) => tokens, align: "right" },
      { title: "summary", value: ({ summary }) => summary },
    ],
    rows,
    "The run has no steps yet.",
  );
  if (trace.truncated) out.note(`Only the first ${rows.length} steps are shown.`);
}
