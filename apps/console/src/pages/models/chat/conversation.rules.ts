import type { ModelCard } from "@gantry/sdk";
import { isRecord } from "../../../ui/json.rules.ts";
import { isStreamed } from "../api/call-code.rules.ts";

export interface Answer {
  text: string;
  /** Thoughts, where the model shows them. */
  reasoning: string;
  state: "open" | "done" | "stopped" | "failed";
  sentAt: number;
  firstTextAt?: number;
  endedAt?: number;
  predictionId?: string;
  error?: { status: number; type: string | undefined; message: string; requestId: string | undefined };
}

export interface Turn {
  id: string;
  question: string;
  answer: Answer;
}

export interface Conversation {
  system: string;
  temperature: string;
  maxTokens: string;
  turns: readonly Turn[];
}

export const emptyConversation: Conversation = { system: "", temperature: "", maxTokens: "", turns: [] };

/** Fields that a conversation covers. A form with others is the better way in. */
const chatFields = ["prompt", "system", "max_tokens", "temperature", "top_p", "seed", "image", "stop"];

export const mayChat = (card: Pick<ModelCard, "kind" | "output">): boolean => card.kind === "text" && isStreamed(card);

export const isForChat = (card: Pick<ModelCard, "kind" | "input" | "output">): boolean =>
  mayChat(card) && Object.keys(card.input.properties).every((name) => chatFields.includes(name));

interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** What is sent for the last turn. Failed turns before it are left out. */
export function messagesOf({ system, turns }: Conversation): ChatMessage[] {
  const last = turns.at(-1);
  const earlier = turns.slice(0, -1).filter(({ answer }) => answer.text !== "");
  return [
    ...(system.trim() === "" ? [] : [{ role: "system" as const, content: system }]),
    ...earlier.flatMap(({ question, answer }): ChatMessage[] => [
      { role: "user", content: question },
      { role: "assistant", content: answer.text },
    ]),
    ...(last ? [{ role: "user" as const, content: last.question }] : []),
  ];
}

export function requestOf(model: string, conversation: Conversation): Record<string, unknown> {
  const { temperature, maxTokens } = conversation;
  const numeric = (text: string) => (text.trim() === "" ? undefined : Number(text));
  return {
    model,
    messages: messagesOf(conversation),
    stream: true,
    ...(numeric(temperature) !== undefined && { temperature: numeric(temperature) }),
    ...(numeric(maxTokens) !== undefined && { max_tokens: numeric(maxTokens) }),
  };
}

/** An answer that was being written when the page closed was cancelled with the connection. */
export function restored(value: unknown): Conversation | undefined {
  if (!isRecord(value) || !Array.isArray(value.turns)) return undefined;
  const conversation = { ...emptyConversation, ...(value as Partial<Conversation>) };
  return {
    ...conversation,
    turns: conversation.turns.map((turn) =>
      turn.answer.state === "open" ? { ...turn, answer: { ...turn.answer, state: "stopped" as const } } : turn,
    ),
  };
}

/** The kept input of a chat, without its last answer. Undefined if the input has no messages. */
export function conversationIn(
  input: Readonly<Record<string, unknown>>,
): { past: Conversation; draft: string } | undefined {
  if (!Array.isArray(input.messages)) return undefined;
  const messages = input.messages.filter(isRecord).map(({ role, content }) => ({ role, text: textIn(content) }));
  const systems = messages.filter(({ role }) => role === "system" || role === "developer").map(({ text }) => text);
  const turns: Turn[] = [];
  let question: string | undefined;
  for (const { role, text } of messages) {
    if (role === "user") question = question === undefined ? text : `${question}\n\n${text}`;
    else if (role === "assistant" && question !== undefined) {
      const answer: Answer = { text, reasoning: "", state: "done", sentAt: 0 };
      turns.push({ id: `kept-${turns.length}`, question, answer });
      question = undefined;
    }
  }
  const given = (value: unknown) => (typeof value === "number" ? String(value) : "");
  return {
    past: {
      system: systems.join("\n\n"),
      temperature: given(input.temperature),
      maxTokens: given(input.max_tokens ?? input.max_completion_tokens),
      turns,
    },
    draft: question ?? "",
  };
}

/** Content is a text, or a list of parts. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .filter(isRecord)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}
