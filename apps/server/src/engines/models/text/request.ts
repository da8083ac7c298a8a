import { type ChatCall, sentText } from "../chat.ts";
import { readableText } from "../driver.ts";

/** A picture that goes along with the last user message. */
export interface InlineImage {
  contentType: string;
  base64: string;
}

/** A chat call, plus what only a prediction can say. */
export interface TextRequest extends ChatCall {
  /** The same on every try of the same call, for upstreams that recognise a repeat by it. */
  id: string;
  images?: readonly InlineImage[];
  /** Inputs that have no meaning of their own here: they go by name into the upstream's body. */
  extra?: Readonly<Record<string, unknown>>;
  /** True where the same beginning will be sent again, as in an agent's run. */
  repeats?: boolean;
}

/** All that a model reads of a call, for counting. */
export function promptText({
  messages,
  tools = [],
  extra = {},
}: Pick<TextRequest, "messages" | "tools" | "extra">): string {
  const spoken = messages.map(sentText);
  const others = readableText(extra);
  return [...spoken, ...tools.map((tool) => JSON.stringify(tool)), ...(others === "" ? [] : [others])].join("\n");
}
