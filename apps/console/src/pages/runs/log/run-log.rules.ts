import type { ConfirmationRecord, RunEvent, RunEventEntry, RunRecord } from "@gantry/sdk";

/** `at`: the server's time of a past event, or when a live event arrived. */
export type LoggedEvent = RunEvent & { at: string };

/** Converts a list entry to the format of the stream. The last entry has no output. */
export function asLogged(entry: RunEventEntry, id: number): LoggedEvent {
  const { type, timestamp, ...fields } = entry;
  const data = entry.type === "error" ? entry.error : entry.type === "completed" ? { output: {} } : fields;
  return { id, type, at: timestamp, data } as LoggedEvent;
}

interface Resolution {
  status: ConfirmationRecord["status"];
  reason: string | null;
}

export type LogItem = { id: number; at: string } & (
  | { kind: "message"; source: "planning" | "reasoning" | "compressed"; text: string }
  | {
      kind: "call";
      tool: string;
      arguments: Record<string, unknown>;
      callId: string | undefined;
      /** False: not called yet, or called by a descendant run. */
      isCalled: boolean;
      result?: { text: string; at: string };
      confirmation?: { id: string; resolution?: Resolution };
    }
  | { kind: "done" }
  | { kind: "failed"; type: string; message: string }
);

type Call = Extract<LogItem, { kind: "call" }>;

/** Combines a call, its confirmation and its result into one item. */
export function logItems(events: readonly LoggedEvent[]): LogItem[] {
  const items: LogItem[] = [];
  const calls = () => items.filter((item): item is Call => item.kind === "call");
  for (const event of events) {
    const base = { id: event.id, at: event.at };
    if (event.type === "tool_call") {
      const { tool, arguments: given, call_id: callId } = event.data;
      // A confirmed call already has an item.
      const confirmed = calls().find(
        (call) => !call.isCalled && call.callId === callId && call.tool === tool && !call.result,
      );
      if (confirmed) Object.assign(confirmed, { at: event.at, isCalled: true });
      else items.push({ ...base, kind: "call", tool, arguments: given, callId, isCalled: true });
    } else if (event.type === "tool_result") {
      const { tool, result, call_id: callId } = event.data;
      // Old runs have no call ids: the result belongs to the first call of the tool without one.
      const open = calls().find((call) => call.callId === callId && call.tool === tool && !call.result);
      if (open) open.result = { text: result, at: event.at };
    } else if (event.type === "confirmation_required") {
      const { tool, arguments: given, call_id: callId, confirmation_id: id } = event.data;
      items.push({ ...base, kind: "call", tool, arguments: given, callId, isCalled: false, confirmation: { id } });
    } else if (event.type === "confirmation_resolved") {
      const { confirmation_id: id, status, reason } = event.data;
      const confirmation = calls().find((call) => call.confirmation?.id === id)?.confirmation;
      if (confirmation) confirmation.resolution = { status, reason };
    } else if (event.type === "completed") items.push({ ...base, kind: "done" });
    else if (event.type === "error") items.push({ ...base, kind: "failed", ...event.data });
    else if (event.type === "planning" || event.type === "reasoning" || event.type === "compressed") {
      items.push({ ...base, kind: "message", source: event.type, text: event.data.message });
    }
  }
  return items;
}

/**
 * Matches agent calls to the runs they started, by their input. Built-in tools and tools of servers, whose names contain
 * two underscores, start no runs.
 */
export function childrenOfCalls(
  items: readonly LogItem[],
  children: readonly RunRecord[],
  builtIn: ReadonlySet<string>,
): Map<number, string> {
  const free = [...children].sort((a, b) => a.created_at.localeCompare(b.created_at));
  const found = new Map<number, string>();
  for (const item of items) {
    if (item.kind !== "call" || builtIn.has(item.tool) || item.tool.includes("__")) continue;
    const at = free.findIndex(({ input }) => canonical(input) === canonical(item.arguments));
    const [child] = at < 0 ? [] : free.splice(at, 1);
    if (child) found.set(item.id, child.id);
  }
  return found;
}

/** Ignores the order of keys. */
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

/** Finds the reference to a one-time secret at the end of a tool result. */
export function secretIn(result: string): OfferedSecret | undefined {
  const [, field, runId, secretId] = offer.exec(result) ?? [];
  return field && runId && secretId ? { runId, secretId, field } : undefined;
}
