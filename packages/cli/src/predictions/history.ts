import type { PredictionMode, PredictionRecord, PredictionStatus, PredictionSummary } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes } from "../frame/failure.ts";
import { ago, cell, money, seconds, time } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { momentOf } from "../frame/moment.rules.ts";
import { placeOfResult } from "./place.ts";
import { awaitEnd } from "./predict.ts";

export async function listPredictions(context: Context): Promise<number> {
  const { text, signal } = context;
  const { predictions } = await context.client();
  const from = text("from");
  const entries = predictions.each({
    model: text("model"),
    status: text("status") as PredictionStatus | undefined,
    mode: text("mode") as PredictionMode | undefined,
    ...(from !== undefined && { from_date: momentOf("from", from, "ago") }),
    signal,
  });
  return printList<PredictionSummary>(
    context,
    entries,
    [
      { title: "id", value: ({ id }) => id },
      { title: "model", value: ({ model_name }) => model_name },
      { title: "status", value: ({ status }) => status },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "time", align: "right", value: ({ inference_time: t }) => (t === null ? "" : seconds(t)) },
      { title: "price", align: "right", value: ({ price }) => (price === null ? "" : money(price)) },
      { title: "input", value: ({ preview }) => preview.input },
    ],
    "No predictions.",
  );
}

export async function showPrediction({ words: [id = ""], out, flag, client, signal }: Context): Promise<number> {
  const record = await (await client()).predictions.read(id, { signal });
  if (flag("json")) out.json(record);
  else out.details(detailsOf(record));
  return exitCodes.done;
}

function detailsOf(record: PredictionRecord) {
  const { error, input, output, inference_time: ran, queued_time: waited, price } = record;
  return [
    ["Id", record.id],
    ["Model", record.model_name],
    ["Status", record.status],
    ["Called", record.mode],
    ["Created", `${time(record.created_at)} (${ago(record.created_at)})`],
    ["Ended", time(record.ended_at)],
    ["Waited", waited === null ? null : seconds(waited)],
    ["Ran", ran === null ? null : seconds(ran)],
    ["Tokens", record.input_tokens === null ? null : `${record.input_tokens} in, ${record.output_tokens ?? 0} out`],
    ["Price", price === null ? null : money(price)],
    ["Key", record.key?.name],
    ["Run", record.run_id],
    ["Error", error?.map(({ msg }) => cell(msg)).join("; ")],
    ["Input", input === null ? record.input_state.replace("_", " ") : JSON.stringify(input, null, 2)],
    ["Output", output === null ? record.text : JSON.stringify(output, null, 2)],
    ["Files", Object.keys(record.files).join(", ")],
  ] as const;
}

export async function waitForPrediction(context: Context): Promise<number> {
  const {
    words: [id = ""],
    signal,
  } = context;
  const place = placeOfResult(context);
  const client = await context.client();
  const { model_name: model } = await client.predictions.read(id, { signal });
  return awaitEnd(context, { client, model, id, place });
}

export async function cancelPrediction({
  words: [id = ""],
  out,
  flag,
  client: connect,
  signal,
}: Context): Promise<number> {
  const client = await connect();
  const { model_name: model } = await client.predictions.read(id, { signal });
  const answer = await client.cancel(model, id, { signal });
  if (flag("json")) out.json(answer);
  else out.line(answer.status === 499 ? `Cancelled ${id}.` : `${id} had already ended with status ${answer.status}.`);
  return exitCodes.done;
}
