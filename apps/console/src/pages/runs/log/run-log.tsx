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

const saidAs = {
  planning: { icon: Route, title: "Plan" },
  reasoning: { icon: Brain, title: "Model" },
  compressed: { icon: Minimize2, title: "Summed up" },
} as const;

interface RunLogProps {
  run: RunRecord;
  log: Log;
  /** The questions of runs below this one, which are told here too. */
  below: ReadonlySet<string>;
  onRetry(): void;
}

/** What the run did, oldest first, growing while it runs. */
export function RunLog({ run, log, below, onRetry }: RunLogProps) {
  const items = logItems(log.events);
  const calls = items.filter(({ kind }) => kind === "call").length;
  const children = useQuery({
    // Another call, or its end, may be one more run.
    queryKey: ["runs", "below", { id: run.id, events: log.events.length }],
    queryFn: ({ signal }) => api.runs.list({ parent_run_id: run.id, limit: 100, signal }),
    enabled: calls > 0,
    placeholderData: (before) => before,
  });
  const started = children.data?.runs ?? [];
  const tools = useQuery({ ...toolsQuery, enabled: started.length > 0 });
  const ofService = new Set(tools.data?.map(({ id }) => id));
  const childOf = tools.data ? childrenOfCalls(items, started, ofService) : new Map<number, string>();
  return (
    <Panel title="Log" flush>
      {items.length === 0 && !log.isFollowing && !log.failure && <Empty title="It did nothing" />}
      <ol aria-label="What the run did" aria-live="polite" className="divide-y divide-line">
        {items.map((item) => (
          <Item key={item.id} item={item} childId={childOf.get(item.id)} below={below} isOver={!log.isFollowing} />
        ))}
      </ol>
      {log.isFollowing && (
        <p className="flex items-center gap-2 px-4 py-3 text-muted">
          <LoaderCircle size={14} className="animate-spin" />
          {run.phase === "awaiting_confirmation" ? "Waiting for your answer above" : "Following what it does"}
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
  below: ReadonlySet<string>;
  isOver: boolean;
}

function Item({ item, childId, below, isOver }: ItemProps) {
  switch (item.kind) {
    case "call": {
      const isBelow = item.asked !== undefined && below.has(item.asked.confirmationId);
      return <ToolCall call={item} childId={childId} isBelow={isBelow} isOver={isOver} />;
    }
    case "said": {
      const { icon: Icon, title } = saidAs[item.said];
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
