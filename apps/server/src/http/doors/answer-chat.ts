import { backendsOf } from "@gantry/wire";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  countWrongInput,
  type DoorChat,
  type EndedPrediction,
  type Outcome,
  type ReadImage,
  type Reply,
  rateHeaders,
  storedReply,
  storedUsage,
  type TokenUsage,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { type Client, watchClient } from "../foundation/client-presence.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { answerWithAgent } from "./agent-model.ts";
import { answerOnce } from "./answer-once.ts";
import { hasBackend, readerOfExtras } from "./backend-types.ts";
import type { ChatAnswered, ChatBegun, ChatDoor, ChatEvents, DoorRequest } from "./chat-door.ts";
import type { DoorDeps } from "./deps.ts";
import { failStream } from "./fail-stream.ts";
import { findTarget } from "./find-target.ts";
import { type HeldStream, holdStream } from "./held-stream.ts";
import { imageReaderFor } from "./read-image.ts";
import { argumentsText } from "./tool-arguments.ts";

interface ChatOfModel {
  deps: DoorDeps;
  door: ChatDoor;
  asked: DoorRequest;
  request: FastifyRequest;
  reply: FastifyReply;
  caller: Caller;
  client: Client;
  modelName: string;
  model: Model;
}

/** Answers a request of a chat protocol with a model or an agent. */
export async function answerChat(
  deps: DoorDeps,
  door: ChatDoor,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const caller = await callerOf(request);
  const body = request.body;
  if (!isRecord(body)) throw fault("json_invalid", "The body must be a JSON object.");
  const modelName = String(body.model);
  const target = await findTarget(deps, { caller, name: body.model }, ["text"]);
  const client = watchClient(reply);
  if (target.kind === "agent") {
    return answerWithAgent({ deps, door, request, reply, caller, client, modelName, address: target.address, body });
  }
  const { model } = target;
  const { asked, chats } = await countWrongInput(deps.predictions.look, { caller, model, route: "sync" }, async () => {
    const read = await door.read(body, request);
    const readImage = imageReaderFor(deps, { caller, reply, signal: client.signal });
    return { asked: read, chats: await chatsOf(door, read, { body, model, readImage }) };
  });
  const call: ChatOfModel = { deps, door, asked, request, reply, caller, client, modelName, model };
  return answerOnce(deps, request, {
    caller,
    model,
    signal: client.signal,
    first: (promisedId) => (asked.stream ? streamAnswer(call, chats, promisedId) : sendAnswer(call, chats, promisedId)),
    repeat: (ended) => repeatAnswer(call, ended),
  });
}

interface Chats {
  chat: DoorChat;
  /** Set if `chat` is native and the model has backends of other protocols too. */
  translated?: () => Promise<DoorChat>;
}

/** Backends of the same protocol get the request as it is. For others it is translated once, when one is tried. */
async function chatsOf(
  door: ChatDoor,
  { maxTokens, stream, nativeHeaders: headers, nativeBody, translate }: DoorRequest,
  { body: given, model, readImage }: { body: Record<string, unknown>; model: Model; readImage: ReadImage },
): Promise<Chats> {
  const limit = maxTokens === undefined ? {} : { maxTokens };
  const translation = async () => ({ ...(await translate(readImage, readerOfExtras(model))), ...limit });
  const { native: protocol } = door;
  if (protocol === undefined || !hasBackend(model, protocol)) return { chat: await translation() };
  const body = nativeBody ?? given;
  const chat = { messages: [], ...limit, native: { protocol, body, stream, ...(headers && { headers }) } };
  if (backendsOf(model.manifest).every(({ type }) => type === protocol)) return { chat };
  let once: Promise<DoorChat> | undefined;
  return {
    chat,
    translated: () => {
      once ??= translation();
      return once;
    },
  };
}

async function sendAnswer(call: ChatOfModel, chats: Chats, promisedId: string | undefined): Promise<unknown> {
  const { outcome, ...end } = await converse(call, "sync", chats, promisedId);
  call.reply.header("x-gantry-cost", String(dollarsOfMicros(outcome.price)));
  const answered = answeredOf(call, end);
  await call.asked.settle?.(answered);
  return call.asked.answer(answered);
}

async function streamAnswer(call: ChatOfModel, chats: Chats, promisedId: string | undefined): Promise<unknown> {
  const { asked, reply } = call;
  const stream = holdStream(reply);
  let events: ChatEvents | undefined;
  try {
    const writing = (id: string, inputTokens?: number): ChatEvents => {
      events = asked.events({ ...begunOf(call, id), inputTokens });
      return events;
    };
    const streamed = (chat: DoorChat) => withEvents(chat, stream, () => events);
    const { translated } = chats;
    const all = {
      chat: streamed(chats.chat),
      ...(translated && { translated: () => translated().then(streamed) }),
    };
    const end = await converse(call, "stream", all, promisedId, writing);
    const answered = answeredOf(call, end);
    await asked.settle?.(answered);
    await stream.write((events ?? writing(end.id)).end(answered));
    stream.end();
    return reply;
  } catch (error) {
    const begin = () => events ?? asked.events(begunOf(call, promisedId ?? call.request.id));
    return failStream(call, stream, begin, error);
  }
}

function withEvents(chat: DoorChat, stream: HeldStream, events: () => ChatEvents | undefined): DoorChat {
  const { native } = chat;
  if (native)
    return { ...chat, native: { ...native, onEvent: (event) => stream.write(events()?.native?.(event) ?? "") } };
  return {
    ...chat,
    onText: (text) => stream.write(events()?.text(text) ?? ""),
    onReasoning: (text) => stream.write(events()?.reasoning(text) ?? ""),
    onToolCall: (piece) => stream.write(events()?.toolCall(piece) ?? ""),
  };
}

interface Ended {
  id: string;
  reply: Reply;
  usage: TokenUsage | undefined;
}

async function converse(
  { deps, door, caller, model, client, request, reply }: ChatOfModel,
  route: "sync" | "stream",
  { chat, translated }: Chats,
  promisedId: string | undefined,
  onBegun?: (id: string, inputTokens: number | undefined) => void,
): Promise<Ended & { outcome: Outcome }> {
  let inputTokens: number | undefined;
  const isCounted = door.countsInput && onBegun && (!chat.native || translated !== undefined);
  const end = await deps.predictions.converse({
    predictionId: promisedId,
    caller,
    model,
    route,
    door: door.door,
    origin: originOf(request),
    chat,
    translated,
    onLive: (live) => {
      // With an Idempotency-Key the prediction continues, and a repeat fetches its answer.
      if (promisedId === undefined) client.whenLeft(() => live.stop("left"));
    },
    ...(isCounted && {
      onCounted: (counted) => {
        inputTokens = counted;
      },
    }),
    onAccepted: (id, rate) => {
      reply.headers({ ...rateHeaders(rate), "x-gantry-prediction-id": id });
      onBegun?.(id, inputTokens);
    },
  });
  const { predictionId: id, outcome } = end;
  if (outcome.kind === "failed") throw outcome.fault;
  if (!end.reply) throw fault("internal_server_error", "Internal server error");
  return { id, outcome, reply: end.reply, usage: outcome.usage };
}

/** Sends the stored answer of the first request again. */
async function repeatAnswer(call: ChatOfModel, { id, output, streamDetails }: EndedPrediction): Promise<unknown> {
  const { asked, reply } = call;
  reply.header("x-gantry-prediction-id", id);
  const end = answeredOf(call, { id, reply: storedReply(output ?? {}), usage: storedUsage(streamDetails) });
  await asked.settle?.(end);
  if (!asked.stream) return asked.answer(end);
  const stream = holdStream(reply);
  await stream.write(wholeAnswer(asked.events(end), end));
  stream.end();
  return reply;
}

/** All events of an answer that is complete. */
export function wholeAnswer(events: ChatEvents, end: ChatAnswered): string {
  if (events.whole) return events.whole(end);
  const { reasoning, text, toolCalls } = end.reply;
  const calls = toolCalls.map((call, index) => {
    const { id, name } = call;
    const pieces = ["", argumentsText(call)];
    return pieces.map((piece) => events.toolCall({ index, id, name, arguments: piece })).join("");
  });
  const thoughts = reasoning === "" ? "" : events.reasoning(reasoning);
  return [thoughts, text === "" ? "" : events.text(text), ...calls, events.end(end)].join("");
}

function begunOf({ modelName }: ChatOfModel, id: string): ChatBegun {
  return { id, modelName, createdAt: new Date() };
}

function answeredOf(call: ChatOfModel, { id, reply, usage }: Ended): ChatAnswered {
  return { ...begunOf(call, id), reply, usage: usage ?? { inputTokens: 0, outputTokens: 0 } };
}
