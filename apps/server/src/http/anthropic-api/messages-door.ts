import type { FastifyRequest } from "fastify";
import { fault } from "../../kernel/errors.ts";
import { fieldOf, invalid, missing, optionalBoolean, optionalList, optionalNumber } from "../doors/body-fields.ts";
import type { ChatDoor } from "../doors/chat-door.ts";
import { messageOf } from "./message-answer.ts";
import { MessageEvents } from "./message-events.ts";
import { withoutOwnThoughts } from "./own-thoughts.ts";
import { readMessages } from "./read-messages.ts";
import { readOptions, shownThoughts } from "./read-options.ts";

type Body = Record<string, unknown>;

export const messagesDoor: ChatDoor = {
  door: "anthropic-messages",
  native: "anthropic",
  countsInput: true,
  read(body, request) {
    const { native, messages } = readRequest(body, request);
    const limit = fieldOf(body, "max_tokens");
    const maxTokens = optionalNumber(limit, { from: 0, whole: true });
    if (maxTokens === undefined) throw missing(limit);
    const shown = shownThoughts(body);
    return {
      stream: optionalBoolean(fieldOf(body, "stream")) ?? false,
      maxTokens,
      nativeHeaders: native.headers,
      nativeBody: native.body,
      metadata: body.metadata,
      async translate(readImage) {
        // Zero fills the cache of an Anthropic model without an answer.
        optionalNumber(limit, { from: 1 });
        return { ...readOptions(body), messages: await readMessages(body, messages, readImage) };
      },
      answer: (end) => messageOf(end, shown),
      events: (begun) => new MessageEvents(begun, shown),
    };
  },
};

/** The parts of a request that do not depend on the backend. */
export function readRequest(body: Body, { headers }: Pick<FastifyRequest, "headers">) {
  checkVersion(headers["anthropic-version"]);
  refuseThread(body);
  const field = fieldOf(body, "messages");
  const messages = optionalList(field);
  if (!messages) throw missing(field);
  if (messages.length === 0) throw invalid(field, "Send at least one message.");
  const passed = ["anthropic-version", "anthropic-beta"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" && value !== "" ? [[name, value] as const] : [];
  });
  return { messages, native: { body: withoutOwnThoughts(body), headers: Object.fromEntries(passed) } };
}

const firstVersion = "2023-06-01";

function checkVersion(version: unknown): void {
  if (version === undefined) return;
  if (typeof version === "string" && /^\d{4}-\d{2}-\d{2}$/.test(version) && version >= firstVersion) return;
  throw fault("value_error", `The header anthropic-version must be a date from ${firstVersion} on.`, {
    loc: ["header", "anthropic-version"],
  });
}

/**
 * A thread would be held by the upstream, for all users of its key, and its messages could not be counted. The official
 * client then sends the whole conversation itself.
 */
function refuseThread({ thread }: Body): void {
  if (thread === undefined || thread === null) return;
  throw fault("value_error", "Threads are not supported. Send the whole conversation in messages.", {
    loc: ["body", "thread"],
    ctx: { error_code: "thread_unsupported_request", unsupported: ["thread"] },
  });
}
