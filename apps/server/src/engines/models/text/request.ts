import { type ChatCall, sentText } from "../chat.ts";
import { readableText } from "../driver.ts";

/** An image of the last user message. */
export interface InlineImage {
  contentType: string;
  base64: string;
}

/** A chat call with the fields that only predictions have. */
export interface TextRequest extends ChatCall {
  /** The same for every try, for upstreams that deduplicate requests. */
  id: string;
  images?: readonly InlineImage[];
  /** True if later calls start with the same messages, as in an agent run. */
  repeats?: boolean;
}

/** Everything that the model reads, for counting. */
export function promptText({
  messages,
  tools = [],
  extra = {},
}: Pick<TextRequest, "messages" | "tools" | "extra">): string {
  const sent = messages.map(sentText);
  const others = readableText(extra);
  return [...sent, ...tools.map((tool) => JSON.stringify(tool)), ...(others === "" ? [] : [others])].join("\n");
}
