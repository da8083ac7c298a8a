import { type SchemaField, schemaFields } from "../../../ui/schema-form.rules.ts";
import type { Schema } from "../../../ui/schema-text.rules.ts";
import { withoutMessages } from "../../runs/run-input.rules.ts";

/** Names that authors give to the text of a conversation, the best first. */
const usualNames = ["message", "input", "question", "prompt", "query", "text"];

export interface ChatFields {
  /** The field that the message fills. Undefined: the agent has no such field, so its form is the message. */
  message: string | undefined;
  /** The other fields of the agent. */
  others: SchemaField[];
}

const isText = ({ kind }: SchemaField) => kind === "text" || kind === "paragraph";

/** Finds the field for the text of a chat in the input of an agent. */
export function chatFields(schema: Schema): ChatFields {
  const fields = schemaFields(schema);
  // Agents that accept any input get the same field as from the chat APIs.
  if (fields.length === 0) return { message: isClosed(schema) ? undefined : "input", others: [] };
  const texts = fields.filter(isText);
  const required = texts.filter(({ isRequired }) => isRequired);
  const usual = usualNames.flatMap((name) => texts.find((field) => field.name === name) ?? []);
  const found = usual[0] ?? only(required) ?? only(texts);
  return { message: found?.name, others: fields.filter((field) => field !== found) };
}

const only = <T>(all: readonly T[]): T | undefined => (all.length === 1 ? all[0] : undefined);

const isClosed = ({ additionalProperties: rule }: Schema) => rule === false;

export interface ShownInput {
  text: string;
  /** Other values, as names and texts. */
  facts: [name: string, value: string][];
}

type Input = Readonly<Record<string, unknown>>;

/** What a turn shows of its input: the message, and other values that the turn before did not have. */
export function shownInput(input: Input, message: string | undefined, before: Input | undefined): ShownInput {
  const said = message === undefined ? undefined : input[message];
  const others = Object.entries(withoutMessages(input)).filter(
    ([name, value]) => name !== message && JSON.stringify(value) !== JSON.stringify(before?.[name]),
  );
  return { text: said === undefined ? "" : textOf(said), facts: others.map(([name, value]) => [name, textOf(value)]) };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
