import { doorOperations } from "@gantry/wire/operations";
import { answerChat } from "../doors/answer-chat.ts";
import type { ChatDoor } from "../doors/chat-door.ts";
import type { DoorRoutes } from "../doors/doors.ts";
import { rawRoute } from "../foundation/route.ts";
import { chatCompletionOf } from "./chat-answer.ts";
import { ChatChunks } from "./chat-chunks.ts";
import { readChatRequest } from "./chat-request.ts";

const chatDoor: ChatDoor = {
  door: "openai-chat",
  native: "openai-chat",
  read(body) {
    const { includesUsage, repeatsUsage, ...request } = readChatRequest(body);
    return {
      ...request,
      answer: chatCompletionOf,
      events: (begun) => new ChatChunks(begun, { includesUsage, repeatsUsage }),
    };
  },
};

export const chatRoute: DoorRoutes = (app, deps) => {
  rawRoute(app, [doorOperations.createChatCompletion], {}, (request, reply) =>
    answerChat(deps, chatDoor, request, reply),
  );
};
