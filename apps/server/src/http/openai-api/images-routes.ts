import { doorOperations } from "@gantry/wire/operations";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type Caller, scopeOf } from "../../features/accounts/index.ts";
import type { Model } from "../../features/models/index.ts";
import {
  addressOfLink,
  type CheckedInput,
  countWrongInput,
  formOfValues,
  type LivePrediction,
  rateHeaders,
  type StoredOutput,
} from "../../features/predictions/index.ts";
import { fault } from "../../kernel/errors.ts";
import { isRecord } from "../../kernel/is-record.ts";
import { dollarsOfMicros, type Micros } from "../../kernel/money.ts";
import { answerOnce } from "../doors/answer-once.ts";
import type { DoorDeps } from "../doors/deps.ts";
import { findModel } from "../doors/find-target.ts";
import { clientPresence } from "../foundation/client-presence.ts";
import { originOf } from "../foundation/request-origin.ts";
import { callerOf } from "../foundation/require-caller.ts";
import { rawRoute } from "../foundation/route.ts";
import { readMultipart } from "../multipart/index.ts";
import { type AnsweredImage, imagesAnswer, revisedPromptOf } from "./images-answer.ts";
import { namingImages, receiveEdit } from "./images-form.ts";
import { type ImagesBody, type ImagesRequest, readImagesRequest } from "./images-request.ts";

interface Call {
  deps: DoorDeps;
  request: FastifyRequest;
  reply: FastifyReply;
  caller: Caller;
  /** Aborts when the client leaves. */
  signal: AbortSignal;
}

/** `POST /v1/images/generations` and `/v1/images/edits`: each image is a prediction of its own. */
export function imagesRoutes(app: FastifyInstance, deps: DoorDeps): void {
  rawRoute(app, [doorOperations.createImage], {}, async (request, reply) => {
    const { body } = request;
    if (!isRecord(body)) throw fault("json_invalid", "The body must be a JSON object.");
    const call = { deps, request, reply, caller: await callerOf(request), signal: clientPresence(reply) };
    return answerImages(call, { fields: body, images: [], mask: undefined });
  });
  rawRoute(app, [doorOperations.editImage], { config: { readsBody: true } }, async (request, reply) => {
    const call = { deps, request, reply, caller: await callerOf(request), signal: clientPresence(reply) };
    const received = await receiveEdit(deps.predictions, (options) => readMultipart(request.raw, options), call.signal);
    try {
      if (received.body.images.length === 0) throw fault("missing", "Field required", { loc: ["body", "image"] });
      return await answerImages(call, received.body, received.fingerprint);
    } finally {
      await received.dispose();
    }
  });
}

async function answerImages(call: Call, body: ImagesBody, content?: string): Promise<FastifyReply> {
  const { deps, reply, caller } = call;
  const model = await findModel(deps, { caller, name: body.fields.model }, "image");
  const asked = { caller, model, route: "sync" } as const;
  const { wanted, input } = await countWrongInput(deps.predictions.look, asked, async () => {
    const read = readImagesRequest(model.manifest, body);
    return { wanted: read, input: await readInput(call, model, read) };
  });
  try {
    const images = await createImages(call, model, { wanted, input, content });
    if (wanted.replacedSize !== undefined) reply.header("x-gantry-size", wanted.replacedSize);
    return reply.type("application/json").send(imagesAnswer({ images, isLink: wanted.isLink, createdAt: new Date() }));
  } finally {
    await input.dispose();
  }
}

function readInput({ deps, caller, signal }: Call, model: Model, { values, files }: ImagesRequest) {
  const readForm = formOfValues(model.manifest, values, async (name) => files.get(name));
  return deps.predictions
    .readInput({ caller, model, extras: { user: false, webhook: false }, readForm, signal })
    .catch((error: unknown) => {
      throw namingImages(error, (name) => name !== "mask" && files.has(name));
    });
}

interface Wanted {
  wanted: ImagesRequest;
  input: CheckedInput;
  /** Of a form, to recognise its repeat. */
  content: string | undefined;
}

interface Created {
  id: string;
  output: StoredOutput;
  /** Undefined for the stored result of an earlier request. */
  price?: Micros;
}

/** Runs one prediction for each image, side by side. Throws the first failure if all fail. */
async function createImages(call: Call, model: Model, { wanted, input, content }: Wanted): Promise<AnsweredImage[]> {
  const ends = await Promise.allSettled(
    Array.from({ length: wanted.count }, (_, index) => createImage(call, model, { input, content, index })),
  );
  const created = ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : []));
  const [failed] = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  if (created.length === 0) throw failed;
  call.reply.header("x-gantry-prediction-id", created.map(({ id }) => id).join(", "));
  const prices = created.flatMap(({ price }) => price ?? []);
  if (prices.length > 0) {
    call.reply.header("x-gantry-cost", String(dollarsOfMicros(prices.reduce((sum, price) => sum + price, 0))));
  }
  const images = await Promise.all(created.map((one) => imagesOf(call, one)));
  return images.flat();
}

function createImage(
  call: Call,
  model: Model,
  { input, content, index }: { input: CheckedInput; content: string | undefined; index: number },
): Promise<Created> {
  const { deps, request, caller, signal } = call;
  return answerOnce(deps, request, {
    caller,
    model,
    signal,
    part: index,
    content,
    first: (promisedId) => run(call, model, withOwnSeed(model, input, index), promisedId),
    repeat: async ({ id, output }) => ({ id, output: output ?? {} }),
  });
}

/** With the same seed, all images of a request would be the same. */
function withOwnSeed({ manifest }: Model, checked: CheckedInput, index: number): CheckedInput {
  const { seed } = checked.input;
  const { maximum = Number.MAX_SAFE_INTEGER } = manifest.input.properties.seed ?? {};
  if (index === 0 || typeof seed !== "number" || seed + index > maximum) return checked;
  return { ...checked, input: { ...checked.input, seed: seed + index } };
}

async function run(
  { deps, request, reply, caller, signal }: Call,
  model: Model,
  input: CheckedInput,
  promisedId: string | undefined,
): Promise<Created> {
  let stop = () => {};
  try {
    const { predictionId: id, outcome } = await deps.predictions.run({
      predictionId: promisedId,
      caller,
      model,
      route: "sync",
      door: "openai-images",
      input,
      origin: originOf(request),
      onLive(live: LivePrediction) {
        // With an Idempotency-Key the prediction continues, and a repeat fetches its image.
        if (promisedId !== undefined) return;
        stop = () => live.stop("left");
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
      onAccepted: (_id, rate) => void reply.headers(rateHeaders(rate)),
    });
    if (outcome.kind === "failed") throw outcome.fault;
    return { id, output: outcome.output, price: outcome.price };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Every image among the files of a result. */
async function imagesOf({ deps, request, caller }: Call, { id, output }: Created): Promise<AnsweredImage[]> {
  const links = await deps.predictions.linksOf(id, output, request.baseUrl);
  const found = Object.entries(links).map(async ([field, link]): Promise<AnsweredImage[]> => {
    const file = await deps.files.openOwnedFile({
      ...scopeOf(caller),
      s3Path: addressOfLink(output, field),
      loc: ["output", field],
    });
    if (!file?.contentType.startsWith("image/") || !isRecord(link)) return [];
    return [
      {
        link: String(link.url),
        contentType: file.contentType,
        revisedPrompt: revisedPromptOf(output),
        open: file.open,
      },
    ];
  });
  return (await Promise.all(found)).flat();
}
