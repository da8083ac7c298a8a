import { Readable } from "node:stream";
import { setImmediate as nextTick } from "node:timers/promises";
import { compileFieldCheck, type Manifest, mostEmbeddingInputs } from "@gantry/wire";
import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  base64OfVector,
  countWrongInput,
  type Embedded,
  rateHeaders,
  storedEmbedding,
} from "../../features/predictions/index.ts";
import { Fault, fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { dollarsOfMicros } from "../../kernel/money.ts";
import { answerOnce } from "../doors/answer-once.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findModel } from "../doors/find-target.ts";
import { type Client, watchClient } from "../foundation/client-presence.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";

export interface EmbeddingRequest {
  texts: readonly string[];
  dimensions: number | undefined;
  isBase64: boolean;
  /** Further fields, for a backend of the same protocol. */
  extra: Record<string, unknown>;
}

interface Call {
  deps: DoorDeps;
  request: FastifyRequest;
  reply: FastifyReply;
  caller: Caller;
  client: Client;
  model: Model;
}

/** `POST /v1/embeddings`: the vectors of some texts. */
export function embeddingsRoute(app: FastifyInstance, deps: DoorDeps): void {
  rawRoute(app, [doorOperations.createEmbedding], {}, (request, reply) => answerEmbeddings(deps, request, reply));
}

async function answerEmbeddings(deps: DoorDeps, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const caller = await callerOf(request);
  const { body } = request;
  if (!isRecord(body)) throw fault("json_invalid", "The body must be a JSON object.");
  const model = await findModel(deps, { caller, name: body.model }, "embedding");
  const client = watchClient(reply);
  const asked = await countWrongInput(deps.predictions.look, { caller, model, route: "sync" }, async () =>
    readEmbeddingRequest(model.manifest, body),
  );
  const call = { deps, request, reply, caller, client, model };
  const embedded = await answerOnce(deps, request, {
    caller,
    model,
    signal: client.signal,
    first: (promisedId) => embed(call, asked, promisedId),
    repeat: async ({ id, output }) => {
      reply.header("x-gantry-prediction-id", id);
      return storedEmbedding(output ?? {}) ?? refuseRepeat();
    },
  });
  return reply.type("application/json").send(embeddingsText(embedded, asked.isBase64, String(body.model)));
}

async function embed(
  { deps, request, reply, caller, client, model }: Call,
  { texts, dimensions, extra }: EmbeddingRequest,
  promisedId: string | undefined,
): Promise<Embedded> {
  const { outcome, embedded } = await deps.predictions.embed({
    predictionId: promisedId,
    caller,
    model,
    texts,
    dimensions,
    extra,
    origin: originOf(request),
    onLive: (live) => {
      // With an Idempotency-Key the prediction continues, and a repeat fetches its answer.
      if (promisedId === undefined) client.whenLeft(() => live.stop("left"));
    },
    onAccepted: (id, rate) => void reply.headers({ ...rateHeaders(rate), "x-gantry-prediction-id": id }),
  });
  if (outcome.kind === "failed") throw outcome.fault;
  if (!embedded) throw fault("internal_server_error", "Internal server error");
  reply.header("x-gantry-cost", String(dollarsOfMicros(outcome.price)));
  return embedded;
}

function refuseRepeat(): never {
  throw fault(
    "conflict",
    "The first request with this Idempotency-Key succeeded, but its vectors were too many to keep. Send the texts with another key, in smaller lists.",
  );
}

export function readEmbeddingRequest({ input }: Manifest, body: Record<string, unknown>): EmbeddingRequest {
  const { model: _model, input: given, encoding_format: format, dimensions, ...extra } = body;
  const texts = textsOf(given);
  checkField(input.properties.input, "input", texts, typeof given === "string");
  if (dimensions !== undefined && dimensions !== null) {
    checkField({ type: "integer", minimum: 1 }, "dimensions", dimensions);
    checkField(input.properties.dimensions, "dimensions", dimensions);
  }
  if (format !== undefined && format !== null && format !== "float" && format !== "base64") {
    throw wrong("encoding_format", "encoding_format must be float or base64.");
  }
  return {
    texts,
    dimensions: typeof dimensions === "number" ? dimensions : undefined,
    isBase64: format === "base64",
    extra,
  };
}

function textsOf(given: unknown): string[] {
  if (given === undefined || given === null) throw fault("missing", "Field required", { loc: ["body", "input"] });
  const texts: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (texts.length === 0) throw wrong("input", "input must have at least one text.");
  if (texts.length > mostEmbeddingInputs) {
    throw wrong("input", `input must have at most ${mostEmbeddingInputs} texts, and has ${texts.length}.`);
  }
  return texts.map((text, index) => {
    if (typeof text === "string" && text !== "") return text;
    if (text === "") throw wrong("input", `Text ${index + 1} of input is empty. Leave it out.`);
    throw wrong("input", "input must be a text or a list of texts. Lists of tokens are not supported.");
  });
}

/** The bounds that the model's owner has set. */
function checkField(
  field: Manifest["input"]["properties"][string] | undefined,
  name: string,
  value: unknown,
  isWhole = false,
) {
  const [problem] = field ? compileFieldCheck(field)(value, 1) : [];
  if (!problem) return;
  const { path = [], ...issue } = problem;
  throw new Fault([{ ...issue, loc: ["body", name, ...(isWhole ? [] : path)] }]);
}

function wrong(name: string, message: string): Fault {
  return fault("value_error", message, { loc: ["body", name] });
}

/** The event loop stays free after this many numbers, which take a few milliseconds as JSON. */
const numbersAtOnce = 16_384;

/** All vectors as numbers in JSON can be more than 100 MB, so a large answer is written while it is sent. */
export function embeddingsText(
  { vectors, inputTokens }: Embedded,
  isBase64: boolean,
  model: string,
): string | Readable {
  const usage = { prompt_tokens: inputTokens, total_tokens: inputTokens };
  const head = '{"object":"list","data":[';
  const tail = `],"model":${JSON.stringify(model)},"usage":${JSON.stringify(usage)}}`;
  const perSlice = Math.max(1, Math.floor(numbersAtOnce / (vectors[0]?.length ?? 1)));
  const slice = (from: number) =>
    vectors.slice(from, from + perSlice).map((vector, n) => entryOf(vector, from + n, isBase64));
  if (vectors.length <= perSlice) return [head, slice(0).join(","), tail].join("");
  return Readable.from(
    (async function* () {
      yield head;
      for (let from = 0; from < vectors.length; from += perSlice) {
        yield (from === 0 ? "" : ",") + slice(from).join(",");
        await nextTick();
      }
      yield tail;
    })(),
  );
}

function entryOf(vector: Float32Array, index: number, isBase64: boolean): string {
  const embedding = JSON.stringify(isBase64 ? base64OfVector(vector) : Array.from(vector));
  return `{"object":"embedding","index":${index},"embedding":${embedding}}`;
}
