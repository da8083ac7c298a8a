import type { ChatCall } from "../chat.ts";

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
