import { Link } from "@tanstack/react-router";
import { ChevronRight, CornerDownRight, LoaderCircle, Wrench } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { seconds } from "../../../ui/format.ts";
import { pretty } from "../../../ui/json.rules.ts";
import { clockTime } from "./clock-time.ts";
import { type LogItem, secretIn } from "./run-log.rules.ts";
import { TakeSecret } from "./take-secret.tsx";

interface ToolCallProps {
  call: Extract<LogItem, { kind: "call" }>;
  /** The run that the call started, where it called another agent. */
  childId: string | undefined;
  /** Asked about by a run below, which has its result. */
  isBelow: boolean;
  isOver: boolean;
}

/** One call, folded: its arguments and what came of it are seen by opening it. */
export function ToolCall({ call, childId, isBelow, isOver }: ToolCallProps) {
  const { tool, result, asked } = call;
  const secret = result && secretIn(result.text);
  return (
    <li className="flex gap-3 px-4 py-3">
      <Wrench size={15} className="mt-0.5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <details className="group">
          <summary className="flex list-none flex-wrap items-center gap-2">
            <ChevronRight size={14} className="shrink-0 text-muted transition group-open:rotate-90" />
            <code className="font-medium">{tool}</code>
            {isBelow ? <Badge>of a run below</Badge> : <Progress call={call} isOver={isOver} />}
            {asked && (
              <Badge tone={asked.answer ? (asked.answer.status === "approved" ? "good" : "bad") : "warn"}>
                {asked.answer?.status ?? "needs your answer"}
              </Badge>
            )}
            <span className="min-w-0 flex-1 basis-40 truncate text-muted text-xs group-open:invisible">
              {result?.text ?? JSON.stringify(call.arguments)}
            </span>
          </summary>
          <div className="mt-2 flex flex-col gap-2">
            {asked?.answer?.reason && <p className="text-muted">The answer's reason: {asked.answer.reason}</p>}
            <CodeBlock wrap label="Arguments" text={pretty(call.arguments)} />
            {result && <CodeBlock wrap label="Result" text={asJson(result.text)} />}
          </div>
        </details>
        {childId && (
          <Link
            to="/runs/$runId"
            params={{ runId: childId }}
            className="mt-1 inline-flex items-center gap-1 text-accent hover:underline"
          >
            <CornerDownRight size={14} /> See the run that it started
          </Link>
        )}
        {secret && <TakeSecret secret={secret} />}
      </div>
      <time dateTime={call.at} className="shrink-0 text-muted text-xs tabular-nums">
        {clockTime(call.at)}
      </time>
    </li>
  );
}

function Progress({ call: { at, result, asked }, isOver }: Pick<ToolCallProps, "call" | "isOver">) {
  if (result) {
    const took = (Date.parse(result.at) - Date.parse(at)) / 1000;
    // How long somebody thought about the answer says nothing about the tool.
    return asked ? null : <span className="text-muted text-xs tabular-nums">{seconds(Math.max(0, took))}</span>;
  }
  if (isOver) return <Badge>no result</Badge>;
  return asked && !asked.answer ? null : <LoaderCircle size={13} className="animate-spin text-muted" />;
}

/** What is JSON as one reads it, anything else as it is. */
function asJson(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}
