import type { RunRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Brain, CircleCheck, CircleX, LoaderCircle, Minimize2, Route } from "lucide-react";
import type { ReactNode } from "react";
import { api } from "../../../api/client.ts";
import { Empty, Failure } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { toolsQuery } from "../../agents/agent-queries.ts";
import { clockTime } from "./clock-time.ts";
import { childrenOfCalls, type LogItem, logItems } from "./run-log.rules.ts";
import { ToolCall } from "./tool-call.tsx";
import type { RunLog as Log } from "./use-run-log.ts";

const sources = {
  planning: { icon: Route, title: "Plan" },
  reasoning: { icon: Brain, title: "Model" },
  compressed: { icon: Minimize2, title: "Summary" },
} as const;

interface RunLogProps {
  run: RunRecord;
  log: Log;
  /** Ids of confirmations that descendants asked for. */
  fromDescendants: ReadonlySet<string>;
  onRetry(): void;
}

/** Oldest first. */
export function RunLog({ run, log, fromDescendants, onRetry }: RunLogProps) {
  const items = logItems(log.events);
  const calls = items.filter(({ kind }) => kind === "call").length;
  const children = useQuery({
    // Each event may belong to a new child run.
    queryKey: ["runs", "children", { id: run.id, events: log.events.length }],
    queryFn: ({ signal }) => api.runs.list({ parent_run_id: run.id, limit: 100, signal }),
    enabled: calls > 0,
    placeholderData: (before) => before,
  });
  const started = children.data?.runs ?? [];
  const tools = useQuery({ ...toolsQuery, enabled: started.length > 0 });
  const builtIn = new Set(tools.data?.map(({ id }) => id));
  const childOf = tools.data ? childrenOfCalls(items, started, builtIn) : new Map<number, string>();
  return (
    <Panel title="Log" flush>
      {items.length === 0 && !log.isFollowing && !log.failure && <Empty title="No events" />}
      <ol aria-label="Run log" aria-live="polite" className="divide-y divide-line">
        {items.map((item) => (
          <Item
            key={item.id}
            item={item}
            childId={childOf.get(item.id)}
            fromDescendants={fromDescendants}
            isOver={!log.isFollowing}
          />
        ))}
      </ol>
      {log.isFollowing && (
        <p className="flex items-center gap-2 px-4 py-3 text-muted">
          <LoaderCircle size={14} className="animate-spin" />
          {run.phase === "awaiting_confirmation" ? "Waiting for your approval" : "Running…"}
        </p>
      )}
      {log.failure !== undefined && (
        <div className="p-4">
          <Failure error={log.failure} onRetry={onRetry} />
        </div>
      )}
    </Panel>
  );
}

interface ItemProps {
  item: LogItem;
  childId: string | undefined;
  fromDescendants: ReadonlySet<string>;
  isOver: boolean;
}

function Item({ item, childId, fromDescendants, isOver }: ItemProps) {
  switch (item.kind) {
    case "call": {
      const isDescendants = item.confirmation !== undefined && fromDescendants.has(item.confirmation.id);
      return <ToolCall call={item} childId={childId} isDescendants={isDescendants} isOver={isOver} />;
    }
    case "message": {
      const { icon: Icon, title } = sources[item.source];
      return (
        <Line icon={<Icon size={15} />} title={title} at={item.at}>
          <p className="whitespace-pre-wrap break-words">{item.text}</p>
        </Line>
      );
    }
    case "done":
      return <Line icon={<CircleCheck size={15} className="text-good" />} title="Done" at={item.at} />;
    case "failed":
      return (
        <Line icon={<CircleX size={15} className="text-bad" />} title="Failed" at={item.at}>
          <p className="break-words">{item.message}</p>
        </Line>
      );
  }
}

function Line({ icon, title, at, children }: { icon: ReactNode; title: string; at: string; children?: ReactNode }) {
  return (
    <li className="flex gap-3 px-4 py-3">
      <span className="mt-0.5 shrink-0 text-muted">{icon}</span>
      <div className="min-w-0 flex-1">
        <p className="font-medium text-muted text-xs">{title}</p>
        {children}
      </div>
      <time dateTime={at} className="shrink-0 text-muted text-xs tabular-nums">
        {clockTime(at)}
      </time>
    </li>
  );
}
