import type { FileLink, GantryClient } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { money, seconds } from "../frame/format.rules.ts";
import { nameOfFile, type Place, store } from "./place.ts";

export interface Result {
  prediction_id: string;
  output_data: Readonly<Record<string, unknown>>;
  files: Readonly<Record<string, FileLink>>;
}

/** Prints values, downloads files, then shows the cost. `isShown`: the text has been streamed already. */
export async function printResult(
  context: Context,
  client: GantryClient,
  result: Result,
  place: Place,
  isShown = false,
): Promise<void> {
  try {
    await save(context, client, result, place, isShown);
  } catch (error) {
    // It is paid for.
    context.out.note(`The prediction is done. Fetch its result with: gantry predictions wait ${result.prediction_id}`);
    throw error;
  }
  await printCost(context, client, result.prediction_id);
}

async function save(
  { out, flag, signal }: Context,
  client: GantryClient,
  { output_data, files }: Result,
  place: Place,
  isShown: boolean,
): Promise<void> {
  const ofFiles = new Set(Object.keys(files).map((name) => name.replace(/\.\d+$/, "")));
  const values = Object.entries(output_data).filter(([name]) => !ofFiles.has(name));
  const text = textOfValues(values);
  const hasFiles = Object.keys(files).length > 0;
  const isPiped = place.kind === "stdout";
  const isStored = place.isGiven && !hasFiles && !(isPiped && isShown);
  // Stdout has the JSON document then.
  const say = flag("json") ? out.note : out.line;
  if (isStored && text !== "") {
    const path = await store(place, { name: "output.txt", position: 0 }, `${text}\n`, out);
    if (path !== undefined) say(path);
  } else if (text !== "" && !isShown && !flag("json")) {
    // On stdout, values would break the bytes of the files.
    if (isPiped) out.note(text);
    else out.line(text);
  }
  for (const [position, [field, link]] of Object.entries(files).entries()) {
    const response = await client.files.download(link, { signal });
    const address = link.file_input?.s3_path ?? link.url;
    const content = response.body as unknown as AsyncIterable<Uint8Array>;
    const path = await store(place, { name: nameOfFile(field, address), position }, content, out);
    if (path !== undefined) say(path);
  }
}

/** One text as it is; several values by name. */
function textOfValues(values: readonly (readonly [string, unknown])[]): string {
  const shown = values.map(([name, value]) => [name, shownValue(value)] as const);
  if (shown.length === 1) return shown[0]?.[1] ?? "";
  return shown.map(([name, value]) => `${name}: ${value}`).join("\n");
}

function shownValue(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value, null, 2);
}

async function printCost(
  { out, signal }: Pick<Context, "out" | "signal">,
  client: GantryClient,
  id: string,
): Promise<void> {
  // A key may be limited to calls.
  const record = await client.predictions.read(id, { signal }).catch(() => undefined);
  const facts = [
    ...(record?.price === null || record === undefined ? [] : [money(record.price)]),
    ...(record?.inference_time === null || record === undefined ? [] : [seconds(record.inference_time)]),
  ];
  out.note([id, ...facts].join(", "));
}
