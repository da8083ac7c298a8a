import type { ChatCall, Content } from "../chat.ts";

/** A chat call with the fields that only predictions have. */
export interface TextRequest extends ChatCall {
  /** The same for every try, for upstreams that deduplicate requests. */
  id: string;
}

type Image = Extract<Exclude<Content, string>[number], { type: "image" }>;

/** The parts of a message in the form of a protocol. Upstreams refuse empty text. */
export function writeParts<Part>(
  content: Content,
  write: { text(text: string): Part; image(image: Image): Part },
): Part[] {
  const parts = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return parts.flatMap((part) => {
    if (part.type === "image") return [write.image(part)];
    return part.text === "" ? [] : [write.text(part.text)];
  });
}
