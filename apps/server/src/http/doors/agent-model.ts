import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import { checkIdempotencyKey, rateHeaders } from "../../features/predictions/index.ts";
import type { ConversationEnd, ConversationRequest, Run } from "../../features/runs/index.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import type { Client } from "../foundation/client-presence.ts";
import type { ChatAnswered, ChatBegun, ChatDoor, ChatEvents, DoorRequest } from "./chat-door.ts";
import type { DoorDeps } from "./deps.ts";
import { failStream } from "./fail-stream.ts";
import type { AgentTarget } from "./find-target.ts";
import { holdStream } from "./held-stream.ts";
import { imageReaderFor } from "./read-image.ts";

interface ChatOfAgent {
  deps: DoorDeps;
  door: ChatDoor;
  request: FastifyRequest;
  reply: FastifyReply;
  caller: Caller;
  client: Client;
  /** As the client named the agent. */
  modelName: string;
  address: AgentTarget["address"];
  body: Record<string, unknown>;
}

/**
 * Answers a conversation by a run of an agent. The agent has its own tools, limits and format, so those of the request are
 * ignored.
 */
export async function answerWithAgent(call: ChatOfAgent): Promise<unknown> {
  const { deps, door, body, request, caller, client } = call;
  const asked = await door.read(body, request);
  const conversation: ConversationRequest = {
    caller,
    address: call.address,
    door: door.door,
    body,
    readMessages: async ({ withoutEarlier }) => {
      const readImage = imageReaderFor(deps, { caller, reply: call.reply, signal: client.signal });
      return (await asked.translate(readImage, undefined, { withoutEarlier })).messages;
    },
    metadata: asked.metadata,
    chain: asked.chain && { previousRunId: await asked.chain.previousRun() },
    idempotencyKey: checkIdempotencyKey(request.headers["idempotency-key"]),
    baseUrl: request.baseUrl,
    signal: client.signal,
    onCreated: (run, rate) => void call.reply.headers({ ...rateHeaders(rate), "x-gantry-run-id": run.id }),
  };
  return asked.stream ? streamAnswer(call, asked, conversation) : sendAnswer(call, asked, conversation);
}

async function sendAnswer(
  { deps, reply, modelName }: ChatOfAgent,
  asked: DoorRequest,
  conversation: ConversationRequest,
): Promise<unknown> {
  const end = await deps.runs.converse(conversation);
  reply.header("x-gantry-cost", String(dollarsOfMicros(end.cost)));
  const answered = answeredOf(modelName, end, { text: end.text, reasoning: "" });
  await asked.settle?.(answered);
  return asked.answer(answered);
}

async function streamAnswer(
  call: ChatOfAgent,
  asked: DoorRequest,
  conversation: ConversationRequest,
): Promise<unknown> {
  const { deps, reply, modelName } = call;
  const stream = holdStream(reply);
  const sent = { text: "", reasoning: "" };
  let events: ChatEvents | undefined;
  const pass = (kind: "text" | "reasoning") => (piece: string) => {
    sent[kind] += piece;
    return stream.write(events?.[kind](piece) ?? "");
  };
  try {
    const end = await deps.runs.converse({
      ...conversation,
      onCreated: (run, rate) => {
        conversation.onCreated?.(run, rate);
        events = asked.events(begunOf(modelName, run));
      },
      onText: pass("text"),
      onReasoning: pass("reasoning"),
    });
    // The end of a stream contains what was streamed, which may be more than the output of the run.
    const answered = answeredOf(modelName, end, sent);
    await asked.settle?.(answered);
    await stream.write(events?.end(answered) ?? "");
    stream.end();
    return reply;
  } catch (error) {
    const begin = () => events ?? asked.events({ id: call.request.id, modelName, createdAt: new Date() });
    return failStream(call, stream, begin, error);
  }
}

function begunOf(modelName: string, { id, createdAt }: Run): ChatBegun {
  return { id, modelName, createdAt };
}

function answeredOf(
  modelName: string,
  { run, usage }: ConversationEnd,
  shown: { text: string; reasoning: string },
): ChatAnswered {
  return { ...begunOf(modelName, run), reply: { ...shown, toolCalls: [], stop: "end" }, usage };
}
