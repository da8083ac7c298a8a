import type { ConfirmationRecord, RunEvent, RunEventEntry, RunRecord } from "@gantry/sdk";

/** An event with its time: the service's own, or when it came. */
export type LoggedEvent = RunEvent & { at: string };

/** As the list shows an event: its fields beside its name. The last one tells how it went in place of the output. */
export function asLogged(entry: RunEventEntry, id: number): LoggedEvent {
  const { type, timestamp, ...fields } = entry;
  const data = entry.type === "error" ? entry.error : entry.type === "completed" ? { output: {} } : fields;
  return { id, type, at: timestamp, data } as LoggedEvent;
}

interface Answer {
  status: ConfirmationRecord["status"];
  reason: string | null;
}

export type LogItem = { id: number; at: string } & (
  | { kind: "said"; said: "planning" | "reasoning" | "compressed"; text: string }
  | {
      kind: "call";
      tool: string;
      arguments: Record<string, unknown>;
      callId: string | undefined;
      /** False: it was asked about, and not called yet, or by a run below this one. */
      isCalled: boolean;
      result?: { text: string; at: string };
      /** What was asked before it was called. */
      asked?: { confirmationId: string; answer?: Answer };
    }
  | { kind: "done" }
  | { kind: "failed"; type: string; message: string }
);

type Call = Extract<LogItem, { kind: "call" }>;

/** The events as one reads them: a call, its question and its result are one thing. */
export function logItems(events: readonly LoggedEvent[]): LogItem[] {
  const items: LogItem[] = [];
  const calls = () => items.filter((item): item is Call => item.kind === "call");
  for (const event of events) {
    const base = { id: event.id, at: event.at };
    if (event.type === "tool_call") {
      const { tool, arguments: given, call_id: callId } = event.data;
      // What is asked about is called after the answer: it stands there already.
      const asked = calls().find((one) => !one.isCalled && one.callId === callId && one.tool === tool && !one.result);
      if (asked) Object.assign(asked, { at: event.at, isCalled: true });
      else items.push({ ...base, kind: "call", tool, arguments: given, callId, isCalled: true });
    } else if (event.type === "tool_result") {
      const { tool, result, call_id: callId } = event.data;
      // Runs of before calls had ids: then it is the first of that tool without a result.
      const call = calls().find((one) => one.callId === callId && one.tool === tool && !one.result);
      if (call) call.result = { text: result, at: event.at };
    } else if (event.type === "confirmation_required") {
      const { tool, arguments: given, call_id: callId, confirmation_id: confirmationId } = event.data;
      items.push({ ...base, kind: "call", tool, arguments: given, callId, isCalled: false, asked: { confirmationId } });
    } else if (event.type === "confirmation_resolved") {
      const { confirmation_id: confirmationId, status, reason } = event.data;
      const call = calls().find(({ asked }) => asked?.confirmationId === confirmationId);
      if (call?.asked) call.asked.answer = { status, reason };
    } else if (event.type === "completed") items.push({ ...base, kind: "done" });
    else if (event.type === "error") items.push({ ...base, kind: "failed", ...event.data });
    else if (event.type === "planning" || event.type === "reasoning" || event.type === "compressed") {
      items.push({ ...base, kind: "said", said: event.type, text: event.data.message });
    }
  }
  return items;
}

/**
 * The run that a call of another agent started, by what it was given; each is of one call. Tools of the service and of
 * servers, whose names have two underscores, start none, whatever they were given.
 */
export function childrenOfCalls(
  items: readonly LogItem[],
  children: readonly RunRecord[],
  ofService: ReadonlySet<string>,
): Map<number, string> {
  const free = [...children].sort((a, b) => a.created_at.localeCompare(b.created_at));
  const found = new Map<number, string>();
  for (const item of items) {
    if (item.kind !== "call" || ofService.has(item.tool) || item.tool.includes("__")) continue;
    const at = free.findIndex(({ input }) => canonical(input) === canonical(item.arguments));
    const [child] = at < 0 ? [] : free.splice(at, 1);
    if (child) found.set(item.id, child.id);
  }
  return found;
}

/** The same for objects that differ in the order of their names only. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

export interface OfferedSecret {
  runId: string;
  secretId: string;
  field: string;
}

const offer =
  /The whole value of (\S+)(?: \(it ends in .{4}\))? is shown once[^\n]*GET \/v1\/runs\/(\w+)\/secrets\/(\w+)\s*$/;

/** A secret that the result of a call names at its end, for whoever started the run. */
export function secretIn(result: string): OfferedSecret | undefined {
  const [, field, runId, secretId] = offer.exec(result) ?? [];
  return field && runId && secretId ? { runId, secretId, field } : undefined;
}
