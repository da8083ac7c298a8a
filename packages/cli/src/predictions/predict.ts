import { type GantryClient, type Input, type StreamEvent, textOf } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { modelName } from "../models/model-name.rules.ts";
import { readInput } from "./input.ts";
import { type Place, placeOfResult } from "./place.ts";
import { showProgress } from "./progress.ts";
import { printResult, type Result } from "./result.ts";

interface Call {
  client: GantryClient;
  model: string;
  input: Input;
  place: Place;
}

export async function predict(context: Context): Promise<number> {
  const { words, text, flag, out, signal } = context;
  const model = modelName(words[0]);
  const key = text("idempotency-key");
  if (flag("stream") && (flag("queue") || flag("wait"))) throw wrongArguments("Give --stream, or --queue and --wait.");
  if (flag("stream") && key !== undefined) throw wrongArguments("--idempotency-key does not work with --stream.");
  if (flag("queue") && !flag("wait") && text("out") !== undefined) {
    throw wrongArguments(
      "A queued prediction has no result yet: add --wait, or give --out to gantry predictions wait.",
    );
  }
  if (text("webhook") !== undefined && !flag("queue")) throw wrongArguments("--webhook needs --queue.");
  const place = placeOfResult(context);
  const client = await context.client();
  const { input: schema, output } = await client.models.card(model, { signal });
  const call: Call = { client, model, input: await readInput(words.slice(1), schema), place };
  if (flag("queue")) return queue(context, call);
  // The API refuses other calls of a model that streams its output.
  const hasStream = Object.values(output.properties).some(({ isStream }) => isStream);
  if (hasStream && key !== undefined) throw wrongArguments("This model streams. Use --idempotency-key with --queue.");
  const streams = flag("stream") || hasStream;
  try {
    return await (streams ? stream(context, call) : wait(context, call));
  } catch (error) {
    if (signal.aborted) {
      out.progress(undefined);
      out.note(key === undefined ? "Cancelled." : "The prediction continues. Run the same command again to fetch it.");
    }
    throw error;
  }
}

async function wait(context: Context, { client, model, input, place }: Call): Promise<number> {
  const { out, text, flag, signal } = context;
  const progress = showProgress(out, client, model);
  const done = await client
    .predict(model, input, { signal, idempotencyKey: text("idempotency-key") })
    .finally(progress.stop);
  if (flag("json")) out.json(done);
  if (!flag("json") || place.isGiven) await printResult(context, client, done, place);
  return exitCodes.done;
}

async function stream(context: Context, { client, model, input, place }: Call): Promise<number> {
  const { out, flag, signal } = context;
  const isLive = flag("stream") || !(flag("wait") || flag("json") || place.isGiven);
  const progress = showProgress(out, client, model);
  const result = { prediction_id: "", status: 200, output_data: {}, files: {} };
  let last: string | undefined;
  try {
    for await (const event of client.stream(model, input, { signal })) {
      collect(result, event);
      if (isLive && flag("json")) out.jsonLine(event);
      const piece = isLive && !flag("json") ? textOf(event) : "";
      if (piece === "") continue;
      progress.stop();
      last = piece;
      await out.text(piece);
    }
  } finally {
    progress.stop();
    if (last?.endsWith("\n") === false) out.line("");
  }
  if (flag("json") && !isLive) out.json(result);
  if (!flag("json") || place.isGiven) await printResult(context, client, result, place, last !== undefined);
  return exitCodes.done;
}

/** Adds an event to the result: fragments of text, or the whole output. */
function collect(result: Result & { stream_details?: unknown }, event: StreamEvent): void {
  if (event.prediction_id !== undefined) result.prediction_id = event.prediction_id;
  if (event.stream_details !== undefined) result.stream_details = event.stream_details;
  if (event.files !== undefined) Object.assign(result, { output_data: event.output_data ?? {}, files: event.files });
  else {
    for (const [field, fragments] of Object.entries(event.output_data ?? {})) {
      const before = result.output_data[field] ?? "";
      result.output_data = { ...result.output_data, [field]: `${before}${(fragments as string[]).join("")}` };
    }
  }
}

async function queue(context: Context, { client, model, input, place }: Call): Promise<number> {
  const { out, text, flag, signal } = context;
  const webhook = text("webhook");
  const progress = showProgress(out, client, model);
  const id = await client
    .submit(model, input, {
      signal,
      idempotencyKey: text("idempotency-key"),
      ...(webhook !== undefined && { webhook: { url: webhook } }),
    })
    .finally(progress.stop);
  if (flag("wait")) return awaitEnd(context, { client, model, id, place });
  if (flag("json")) out.json({ prediction_id: id });
  else {
    out.line(id);
    out.note(`Fetch the result with: gantry predictions wait ${id}`);
  }
  return exitCodes.done;
}

/** Waits for a queued prediction. Ctrl+C ends the command, not the prediction. */
export async function awaitEnd(
  context: Context,
  { client, model, id, place }: { client: GantryClient; model: string; id: string; place: Place },
): Promise<number> {
  const { out, flag, signal } = context;
  const progress = showProgress(out, client, model);
  try {
    const done = await client.waitFor(model, id, { signal }).finally(progress.stop);
    if (flag("json")) out.json(done);
    if (!flag("json") || place.isGiven) await printResult(context, client, done, place);
    return exitCodes.done;
  } catch (error) {
    if (signal.aborted) out.note(`The prediction continues. Fetch it with: gantry predictions wait ${id}`);
    throw error;
  }
}
