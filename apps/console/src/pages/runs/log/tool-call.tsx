import { Link } from "@tanstack/react-router";
import { ChevronRight, CornerDownRight, LoaderCircle, Wrench } from "lucide-react";
import { Badge } from "../../../ui/badge.tsx";
import { CodeBlock } from "../../../ui/code.tsx";
import { seconds } from "../../../ui/format.ts";
import { pretty } from "../../../ui/json.rules.ts";
import { confirmationLabels } from "../run-status.tsx";
import { clockTime } from "./clock-time.ts";
import { type LogItem, secretIn } from "./run-log.rules.ts";
import { TakeSecret } from "./take-secret.tsx";

interface ToolCallProps {
  call: Extract<LogItem, { kind: "call" }>;
  /** Set if the call started another agent's run. */
  childId: string | undefined;
  /** The call belongs to a descendant run, whose log has the result. */
  isDescendants: boolean;
  isOver: boolean;
}

export function ToolCall({ call, childId, isDescendants, isOver }: ToolCallProps) {
  const { tool, result, confirmation } = call;
  const resolution = confirmation?.resolution;
  const secret = result && secretIn(result.text);
  return (
    <li className="flex gap-3 px-4 py-3">
      <Wrench size={15} className="mt-0.5 shrink-0 text-muted" />
      <div className="min-w-0 flex-1">
        <details className="group">
          <summary className="flex list-none flex-wrap items-center gap-2">
            <ChevronRight size={14} className="shrink-0 text-muted transition group-open:rotate-90" />
            <code className="font-medium">{tool}</code>
            {isDescendants ? <Badge>Sub-agent</Badge> : <Progress call={call} isOver={isOver} />}
            {confirmation && (
              <Badge tone={resolution ? (resolution.status === "approved" ? "good" : "bad") : "warn"}>
                {confirmationLabels[resolution?.status ?? "pending"]}
              </Badge>
            )}
            <span className="min-w-0 flex-1 basis-40 truncate text-muted text-xs group-open:invisible">
              {result?.text ?? JSON.stringify(call.arguments)}
            </span>
          </summary>
          <div className="mt-2 flex flex-col gap-2">
            {resolution?.reason && <p className="text-muted">Reason: {resolution.reason}</p>}
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
            <CornerDownRight size={14} /> View sub-agent run
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

function Progress({ call: { at, result, confirmation }, isOver }: Pick<ToolCallProps, "call" | "isOver">) {
  if (result) {
    const took = (Date.parse(result.at) - Date.parse(at)) / 1000;
    // The duration would include the time until the user answered.
    return confirmation ? null : <span className="text-muted text-xs tabular-nums">{seconds(Math.max(0, took))}</span>;
  }
  if (isOver) return <Badge>No result</Badge>;
  return confirmation && !confirmation.resolution ? null : (
    <LoaderCircle size={13} className="animate-spin text-muted" />
  );
}

/** Formats JSON; other text stays as it is. */
function asJson(text: string): string {
  try {
    return pretty(JSON.parse(text));
  } catch {
    return text;
  }
}
