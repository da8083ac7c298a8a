/** The data of each event in a stream of Server-Sent Events. Comments and other fields are skipped. */
export async function* dataIn(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split(/\r?\n/);
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trimStart();
  }
}

/** A piece of a streamed chat completion. */
export interface ChatPiece {
  text: string;
  reasoning: string;
}

interface Chunk {
  choices?: { delta?: { content?: unknown; reasoning_content?: unknown; reasoning?: unknown } }[];
  error?: { message?: string; type?: string; code?: string };
}

export class ChatFailure extends Error {
  readonly code: string | undefined;
  constructor(message: string, code: string | undefined) {
    super(message);
    this.code = code;
  }
}

/** Undefined for chunks without text. An error after the first byte is an event; it is thrown. */
export function pieceOf(data: string): ChatPiece | undefined {
  const { choices, error } = JSON.parse(data) as Chunk;
  if (error) throw new ChatFailure(error.message ?? "The model failed", error.code ?? error.type);
  const delta = choices?.[0]?.delta;
  const given = (value: unknown) => (typeof value === "string" ? value : "");
  const piece = { text: given(delta?.content), reasoning: given(delta?.reasoning_content ?? delta?.reasoning) };
  return piece.text === "" && piece.reasoning === "" ? undefined : piece;
}
