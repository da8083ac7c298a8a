import { Readable } from "node:stream";
import { backendsOf } from "@gantry/wire";
import type { BatchProtocol, LineAnswer, LineRequest, PreparedLine } from "../../features/batches/index.ts";
import { storedEmbedding, storedReply, storedUsage } from "../../features/predictions/index.ts";
import { responseIdOf } from "../../features/responses/index.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { readerOfExtras } from "../doors/backend-types.ts";
import type { BodyMemory, TakenMemory } from "../doors/body-memory.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { doorErrorOf } from "../doors/door-error.ts";
import { findModel, findTarget } from "../doors/find-target.ts";
import { chatCompletionOf } from "./chat-answer.ts";
import { readChatRequest } from "./chat-request.ts";
import { embeddingsText, readEmbeddingRequest } from "./embeddings-route.ts";
import { openaiError } from "./openai-dialect.ts";
import { queuedTurn } from "./responses-background.ts";
import { responseBody } from "./responses-body.ts";
import { readConversation } from "./responses-door.ts";
import { readResponseRequest } from "./responses-request.ts";

type Deps = Pick<DoorDeps, "models" | "predictions" | "responses" | "log">;

/** A line with the memory that its images and earlier turns take until it is queued. */
interface Line extends LineRequest {
  takeMemory(bytes: number): void;
}

interface Endpoint {
  prepare(deps: Deps, line: Line): Promise<PreparedLine>;
  answer(deps: Deps, line: LineAnswer): Promise<string | undefined>;
}

const endpoints: Readonly<Record<LineRequest["endpoint"], Endpoint>> = {
  "/v1/chat/completions": { prepare: prepareChat, answer: answerChat },
  "/v1/embeddings": { prepare: prepareEmbedding, answer: answerEmbedding },
  "/v1/responses": { prepare: prepareResponse, answer: answerResponse },
};

/** The lines of batches, read and answered as the routes of the protocol do. */
export function batchProtocol(deps: Deps & { bodies: BodyMemory }): BatchProtocol {
  return {
    askedOf: (_endpoint, { model, encoding_format: format }) => ({
      model: typeof model === "string" ? model : "",
      ...(format === "base64" && { format }),
    }),
    async prepare(line) {
      const taken: TakenMemory[] = [];
      const takeMemory = (bytes: number) => {
        const memory = deps.bodies.take(line.caller.userId, bytes);
        if (!memory) throw fault("service_unavailable", "Too many large requests are in progress.");
        taken.push(memory);
      };
      try {
        if (line.body.stream === true) {
          throw fault("value_error", "Requests of a batch cannot be streamed. Leave stream out.", {
            loc: ["body", "stream"],
          });
        }
        return await endpoints[line.endpoint].prepare(deps, { ...line, takeMemory });
      } finally {
        for (const memory of taken) memory.release();
      }
    },
    answer: (line) => endpoints[line.endpoint].answer(deps, line),
    failure(failure) {
      const error = doorErrorOf(failure);
      return { status: error.status, body: { error: openaiError(error) } };
    },
  };
}

async function textModel(deps: Deps, { caller, body }: Line) {
  const target = await findTarget(deps, { caller, name: body.model }, ["text"]);
  if (target.kind === "model") return target.model;
  throw fault("value_error", "Agents do not answer in batches. Create a run instead.", { loc: ["body", "model"] });
}

function commonOf({ batchId, keepsInput, body }: Line): Required<Pick<PreparedLine, "origin">> {
  return { origin: { id: batchId, keepsInput: keepsInput && body.store !== false } };
}

async function prepareChat(deps: Deps, line: Line): Promise<PreparedLine> {
  const { caller, body, signal, takeMemory } = line;
  const model = await textModel(deps, line);
  const { maxTokens, translate } = readChatRequest(body);
  const limit = maxTokens !== undefined && { maxTokens };
  const isNative = backendsOf(model.manifest).every(({ type }) => type === "openai-chat");
  const chat = isNative
    ? { messages: [], native: { protocol: "openai-chat" as const, body, stream: false } }
    : await translate(deps.predictions.imageReader({ caller, signal, takeMemory }));
  return { ...commonOf(line), model, door: "openai-chat", input: { chat: { ...chat, ...limit } } };
}

async function answerChat(_deps: Deps, { asked, predictionId, createdAt, ...ended }: LineAnswer): Promise<string> {
  const reply = storedReply(ended.output);
  const usage = storedUsage(ended.streamDetails);
  return JSON.stringify(
    chatCompletionOf({ id: predictionId, modelName: String(asked.model), createdAt, reply, usage }),
  );
}

async function prepareEmbedding(deps: Deps, line: Line): Promise<PreparedLine> {
  const { caller, body } = line;
  const model = await findModel(deps, { caller, name: body.model }, "embedding");
  const { texts, dimensions, extra } = readEmbeddingRequest(model.manifest, body);
  return { ...commonOf(line), model, door: "openai-embeddings", input: { embedding: { texts, dimensions, extra } } };
}

async function answerEmbedding(_deps: Deps, { asked, output }: LineAnswer): Promise<string | undefined> {
  const embedded = storedEmbedding(output);
  if (!embedded) return undefined;
  const text = embeddingsText(embedded, asked.format === "base64", String(asked.model));
  return text instanceof Readable ? (await text.toArray()).join("") : text;
}

/** The response is stored, as every response of the queue. */
async function prepareResponse(deps: Deps, line: Line): Promise<PreparedLine> {
  const { caller, body, signal, takeMemory, predictionId } = line;
  const model = await textModel(deps, line);
  const asked = readResponseRequest({ ...body, background: false });
  const { input, translate } = await readConversation({ deps, caller, asked, takeMemory });
  const readImage = deps.predictions.imageReader({ caller, signal, takeMemory });
  const chat = await translate(readImage, readerOfExtras(model));
  const limit = asked.maxTokens !== undefined && { maxTokens: asked.maxTokens };
  const turn = queuedTurn(asked, { predictionId, modelName: String(body.model), endpointId: model.endpointId });
  return {
    ...commonOf(line),
    model,
    door: "openai-responses",
    input: { chat: { ...chat, ...limit } },
    store: () => deps.responses.save(caller, { ...turn, input }),
    discard: () => deps.responses.discard(caller, turn.id),
  };
}

async function answerResponse(deps: Deps, { scope, predictionId }: LineAnswer): Promise<string | undefined> {
  const turn = await deps.responses.find(scope, responseIdOf(predictionId)).catch((error: unknown) => {
    if (error instanceof Fault && error.type === "not_found") return undefined;
    throw error;
  });
  return turn && JSON.stringify(responseBody(turn, false));
}
