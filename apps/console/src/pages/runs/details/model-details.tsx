import type { TraceMessage, TraceStepDetail } from "@gantry/sdk";
import { ChevronRight } from "lucide-react";
import { CodeBlock } from "../../../ui/code.tsx";
import { count } from "../../../ui/format.ts";
import { pretty } from "../../../ui/json.rules.ts";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { Notice } from "../../../ui/notice.tsx";
import { LiveAnswer } from "../live/live-answer.tsx";
import type { LiveText } from "../live/live-text.rules.ts";
import { Section } from "./section.tsx";
import { preview, shownAnswer } from "./step-content.rules.ts";
import { TextView } from "./text-view.tsx";

/** `live`: what the model is writing, if this call is under way. */
export function ModelDetails({ step, live }: { step: TraceStepDetail; live: LiveText | undefined }) {
  const { text, reasoning, calls } = shownAnswer(step.message);
  const hasAnswer = text !== "" || reasoning !== "" || calls.length > 0;
  return (
    <>
      {step.status === "running" && (
        <Section title="Answer">
          <LiveAnswer text={live} />
        </Section>
      )}
      {hasAnswer && (
        <Section title="Answer">
          {reasoning !== "" && <Reasoning text={reasoning} />}
          {text !== "" && <TextView label="Answer" text={text} />}
          {calls.map(({ id, tool, arguments: given }) =>
            given === undefined ? (
              <p key={id}>
                Calls <code>{tool}</code>
              </p>
            ) : (
              <CodeBlock key={id} wrap label={`Calls ${tool}`} language="json" text={given} />
            ),
          )}
        </Section>
      )}
      {step.message?.cut_at_tokens !== undefined && (
        <Notice tone="warn">The answer was cut off at {count(step.message.cut_at_tokens)} tokens.</Notice>
      )}
      {step.messages && step.messages.length > 0 && (
        <Section title={`Messages sent (${step.messages.length})`}>
          {step.omitted_messages ? (
            <p className="text-muted">
              {count(step.omitted_messages)} older {step.omitted_messages === 1 ? "message is" : "messages are"} not
              shown.
            </p>
          ) : null}
          <ol className="divide-y divide-line rounded-md border border-line">
            {step.messages.map((message, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the messages of a call never change.
              <Message key={n} message={message} isLast={n + 1 === step.messages?.length} />
            ))}
          </ol>
        </Section>
      )}
    </>
  );
}

const roles: Readonly<Record<TraceMessage["role"], string>> = {
  system: "System",
  user: "User",
  assistant: "Model",
  tool: "Tool result",
};

function Message({ message, isLast }: { message: TraceMessage; isLast: boolean }) {
  const { role, content, tool, tool_calls: calls = [] } = message;
  const label = tool === undefined ? roles[role] : `Result of ${tool}`;
  const called = calls.map((call) => call.tool).join(", ");
  return (
    <li>
      <details className="group" open={isLast || undefined}>
        <summary className="flex min-w-0 list-none items-center gap-2 px-3 py-2 hover:bg-sunken/60">
          <ChevronRight size={13} className="shrink-0 text-muted transition group-open:rotate-90" />
          <span className="shrink-0 font-medium">{label}</span>
          <span className="min-w-0 truncate text-muted text-xs group-open:invisible">
            {preview(content || `Calls ${called}`)}
          </span>
        </summary>
        <div className="flex flex-col gap-2 px-3 pb-3">
          {(content !== "" || calls.length === 0) && <TextView label={label} text={content} />}
          {calls.map((call) => (
            <CodeBlock
              key={call.call_id}
              wrap
              label={`Calls ${call.tool}`}
              language="json"
              text={pretty(call.arguments ?? {})}
            />
          ))}
        </div>
      </details>
    </li>
  );
}

function Reasoning({ text }: { text: string }) {
  return (
    <details className="group rounded-md border border-line">
      <summary className="flex min-w-0 list-none items-center gap-2 px-3 py-2 text-muted hover:bg-sunken/60">
        <ChevronRight size={13} className="shrink-0 transition group-open:rotate-90" />
        <span className="shrink-0 font-medium">Reasoning</span>
        <span className="min-w-0 truncate text-xs group-open:invisible">{preview(text)}</span>
      </summary>
      <div className="px-3 pb-3 text-muted">
        <Markdown text={text} />
      </div>
    </details>
  );
}
