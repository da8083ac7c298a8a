import type { ThreadTurn } from "@gantry/sdk";
import { useState } from "react";
import { Button } from "../../../ui/button.tsx";
import { ChatComposer } from "../../../ui/chat/chat-composer.tsx";
import { fieldErrors } from "../../../ui/field-errors.rules.ts";
import { MayHaveSucceeded } from "../../../ui/may-have-succeeded.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { SchemaField } from "../../../ui/schema-field.tsx";
import { readFields, type Typed, typedFrom } from "../../../ui/schema-form.rules.ts";
import type { ChatFields } from "./chat-input.rules.ts";

interface MessageFormProps {
  fields: ChatFields;
  /** The input of the last turn, whose other fields are kept. */
  last: ThreadTurn["input"] | undefined;
  isLive: boolean;
  isSending: boolean;
  /** Of the last attempt. */
  error: unknown;
  /** Text to begin with: what could not be sent; another `n` replaces what is written. */
  draft: { text: string; n: number };
  onSend(input: Record<string, unknown>): void;
  onStop(): void;
}

/** The message, and the other fields of the agent: shown before the first message, folded after it. */
export function MessageForm({ fields, last, isLive, isSending, error, draft, onSend, onStop }: MessageFormProps) {
  const { message, others } = fields;
  const [typed, setTyped] = useState<Typed>(() => (last ? typedFrom(others, last) : {}));
  const [faults, setFaults] = useState<Record<string, string>>({});
  const errors = fieldErrors(
    error,
    others.map(({ name }) => `input.${name}`),
  );
  const send = (text?: string) => {
    const { values, faults: found } = readFields(others, typed, last);
    setFaults(found);
    if (Object.keys(found).length > 0) return false;
    // The message first: its text names the thread.
    onSend({ ...(message !== undefined && { [message]: text }), ...values });
    return true;
  };
  const hasFaults = Object.keys(faults).length > 0 || Object.keys(errors.of).length > 0;
  const form = (
    <div className="grid gap-3 sm:grid-cols-2">
      {others.map((field) => (
        <SchemaField
          key={field.name}
          field={field}
          value={typed[field.name] ?? field.initial}
          error={faults[field.name] ?? errors.of[`input.${field.name}`]}
          onValue={(value) => setTyped({ ...typed, [field.name]: value })}
        />
      ))}
    </div>
  );
  return (
    <div className="flex flex-col gap-3">
      {errors.rest !== undefined && <Failure error={errors.rest} />}
      <MayHaveSucceeded error={error} />
      {others.length > 0 &&
        (last === undefined || message === undefined || hasFaults ? (
          <div className="max-h-[40vh] overflow-y-auto p-0.5">{form}</div>
        ) : (
          <details>
            <summary className="w-fit cursor-pointer rounded font-medium text-muted text-xs hover:text-ink">
              Other inputs
            </summary>
            <div className="mt-2 max-h-[40vh] overflow-y-auto p-0.5">{form}</div>
          </details>
        ))}
      {message === undefined ? (
        <div className="flex justify-end">
          {isLive ? (
            <Button onClick={onStop}>Stop</Button>
          ) : (
            <Button kind="primary" busy={isSending} onClick={() => send()}>
              Send
            </Button>
          )}
        </div>
      ) : (
        <ChatComposer
          isOpen={isLive}
          isSending={isSending}
          placeholder="Send a message"
          key={draft.n}
          draft={draft.text}
          onAsk={send}
          onStop={onStop}
        />
      )}
    </div>
  );
}
