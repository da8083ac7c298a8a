import { isRecord } from "../../../kernel/is-record.ts";

type Input = Readonly<Record<string, unknown>>;

const titleCharacters = 100;
/** Searched for the first line. */
const mostSearched = 10_000;

/** The first line of an input's first text, or its JSON. `input` is what the client of a door said last. */
export function titleOf(input: Input): string {
  const texts = [input.input, ...Object.values(input)].filter((value) => typeof value === "string");
  const text = texts.find((one) => one.trim() !== "") ?? (Object.keys(input).length > 0 ? inputText(input) : "");
  const [line = ""] = text
    .trimStart()
    .slice(0, mostSearched)
    .split(/[\r\n]/, 1);
  return [...line.trim()].slice(0, titleCharacters).join("");
}

/** An input as a message: what the client of a door said, the only text of the input, or JSON. */
export function inputText(input: Input): string {
  const { messages, input: _lastMessage, ...more } = input;
  if (Array.isArray(messages)) {
    const said = saidText(messages);
    return Object.keys(more).length === 0 ? said : `${said}\n\n${JSON.stringify(more)}`;
  }
  const values = Object.values(input);
  return values.length === 1 && typeof values[0] === "string" ? values[0] : JSON.stringify(input);
}

/** Instructions of the client are for its current turn, so they are left out. */
function saidText(messages: readonly unknown[]): string {
  const said = messages.filter(isRecord).filter(({ role }) => role !== "system");
  const isMonologue = said.every(({ role }) => role === "user");
  return said
    .map(({ role, content }) => (isMonologue ? contentText(content) : `${role}: ${contentText(content)}`))
    .join("\n\n");
}

function contentText(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === "string" ? content : JSON.stringify(content ?? "");
  return content
    .filter(isRecord)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "[image]"))
    .join("\n");
}
