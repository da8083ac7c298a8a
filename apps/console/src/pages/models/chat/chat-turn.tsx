import { GantryError } from "@gantry/sdk";
import { memo } from "react";
import { Question, Waiting } from "../../../ui/chat/chat-parts.tsx";
import { Markdown } from "../../../ui/markdown/markdown.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { RunFigures } from "../playground/run-figures.tsx";
import type { Answer, Turn } from "./conversation.rules.ts";

/** A question and its answer. */
export const ChatTurn = memo(function ChatTurn({ turn: { question, answer } }: { turn: Turn }) {
  const { state, text, reasoning, predictionId } = answer;
  const isOpen = state === "open";
  return (
    <li className="flex flex-col gap-4">
      <Question>{question}</Question>
      <div className="flex min-w-0 flex-col gap-2" aria-busy={isOpen}>
        <span className="sr-only">Answer:</span>
        {reasoning !== "" && (
          <details open={isOpen && text === ""}>
            <summary className="text-muted text-xs hover:text-ink">Reasoning</summary>
            <div className="mt-2 border-line border-l-2 pl-3 text-muted">
              <Markdown text={reasoning} streaming={isOpen} />
            </div>
          </details>
        )}
        {text !== "" && <Markdown text={text} streaming={isOpen} hasTools={!isOpen} />}
        {isOpen && text === "" && reasoning === "" && <Waiting />}
        {state === "done" && text === "" && <p className="text-muted">The answer is empty.</p>}
        {state === "stopped" && <p className="text-muted text-xs">Stopped</p>}
        {state === "failed" && <Failure error={errorOf(answer)} />}
        {!isOpen && predictionId !== undefined && (
          <RunFigures
            predictionId={predictionId}
            times={{ startedAt: answer.sentAt, firstTextAt: answer.firstTextAt, endedAt: answer.endedAt }}
          />
        )}
      </div>
    </li>
  );
});

function errorOf({ error }: Answer): unknown {
  return error && new GantryError({ ...error, retryable: false, body: undefined });
}
