import type { ModelCard } from "@gantry/sdk";
import { Field, TextArea, TextInput } from "../../../ui/field.tsx";
import { count } from "../../../ui/format.ts";
import { Panel } from "../../../ui/page.tsx";
import { priceParts } from "../price.rules.ts";
import type { Conversation } from "./conversation.rules.ts";

interface ChatSettingsProps {
  card: ModelCard;
  conversation: Conversation;
  onChange(settings: Partial<Omit<Conversation, "turns">>): void;
}

export function ChatSettings({ card, conversation, onChange }: ChatSettingsProps) {
  const { pricing, context_window, max_output_tokens } = card;
  return (
    <Panel title="Settings">
      <div className="flex flex-col gap-4">
        <Field label="System prompt" hint="Role, tone and rules for all answers.">
          {(control) => (
            <TextArea
              {...control}
              rows={3}
              className="field-sizing-content max-h-80 min-h-20"
              value={conversation.system}
              onChange={(event) => onChange({ system: event.target.value })}
            />
          )}
        </Field>
        <Field label="Temperature" hint="0 to 2. Leave empty for the model's default.">
          {(control) => (
            <TextInput
              {...control}
              type="number"
              min={0}
              max={2}
              step="any"
              value={conversation.temperature}
              onChange={(event) => onChange({ temperature: event.target.value })}
            />
          )}
        </Field>
        <Field
          label="Max tokens"
          hint={
            max_output_tokens === undefined
              ? "Longest answer allowed."
              : `Longest answer allowed, up to ${count(max_output_tokens)}.`
          }
        >
          {(control) => (
            <TextInput
              {...control}
              type="number"
              min={1}
              step={1}
              value={conversation.maxTokens}
              onChange={(event) => onChange({ maxTokens: event.target.value })}
            />
          )}
        </Field>
        <ul className="border-line border-t pt-3 text-muted text-xs" aria-label="Price">
          {priceParts(pricing).map((part) => (
            <li key={part}>{part}</li>
          ))}
          {context_window !== undefined && <li>Context window {count(context_window)} tokens</li>}
        </ul>
      </div>
    </Panel>
  );
}
