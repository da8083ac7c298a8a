import type { ThreadTurn } from "@gantry/sdk";
import { memo, useState } from "react";
import { Question } from "../../../ui/chat/chat-parts.tsx";
import { isOver } from "../../runs/run-status.tsx";
import { shownInput } from "./chat-input.rules.ts";
import { LiveTurnAnswer, TurnAnswer } from "./turn-answer.tsx";

interface TurnsProps {
  agentId: string;
  turns: readonly ThreadTurn[];
  /** The input field of the message. */
  message: string | undefined;
}

export function Turns({ agentId, turns, message }: TurnsProps) {
  return turns.map((turn, n) => (
    <Turn key={turn.run_id} agentId={agentId} turn={turn} before={turns[n - 1]?.input} message={message} />
  ));
}

interface TurnProps extends Omit<TurnsProps, "turns"> {
  turn: ThreadTurn;
  before: ThreadTurn["input"] | undefined;
}

/** A message and its answer. */
const Turn = memo(function Turn({ agentId, turn, before, message }: TurnProps) {
  const [wasLive] = useState(() => !isOver(turn));
  const Answer = wasLive ? LiveTurnAnswer : TurnAnswer;
  return (
    <li className="flex flex-col gap-4">
      <Said input={turn.input} before={before} message={message} />
      <Answer agentId={agentId} turn={turn} />
    </li>
  );
});

interface SaidProps {
  input: ThreadTurn["input"];
  before: ThreadTurn["input"] | undefined;
  message: string | undefined;
}

export function Said({ input, before, message }: SaidProps) {
  const { text, facts } = shownInput(input, message, before);
  return (
    <Question>
      {text}
      {facts.length > 0 && (
        <dl className={`grid grid-cols-[auto_1fr] gap-x-2 text-muted text-xs ${text === "" ? "" : "mt-1"}`}>
          {facts.map(([name, value]) => (
            <div key={name} className="contents">
              <dt>{name}</dt>
              <dd className="min-w-0 text-ink">{value}</dd>
            </div>
          ))}
        </dl>
      )}
      {text === "" && facts.length === 0 && <span className="text-muted">Without input</span>}
    </Question>
  );
}
