import type { ModelCard } from "@gantry/sdk";
import type { SentInput, SentValue } from "../playground/form-values.rules.ts";

export type CallMode = "sync" | "stream" | "async";
export type CalledModel = Pick<ModelCard, "endpoint_id" | "urls" | "output">;

export const isStreamed = ({ output }: Pick<ModelCard, "output">): boolean =>
  Object.values(output.properties).some((field) => field.isStream === true);

/** Streaming models have no sync call. */
export const modesOf = (card: Pick<ModelCard, "output">): readonly CallMode[] =>
  isStreamed(card) ? ["stream", "async"] : ["sync", "async"];

export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const keyHeader = '-H "X-API-KEY: $GANTRY_KEY"';

/** `--form-string` keeps curl from reading text as a file name or an option. */
function formPart([name, value]: [string, SentValue]): string {
  if (value instanceof File) return `-F ${quoted(`${name}=@"${value.name.replaceAll(/["\\]/g, "\\$&")}"`)}`;
  const text = textOfPart(value);
  const isSpecial = /^[@<"]|;/.test(text);
  return `${isSpecial ? "--form-string" : "-F"} ${quoted(`${name}=${text}`)}`;
}

export const isFileList = (value: SentValue): value is readonly (File | string)[] =>
  Array.isArray(value) && value.some((each) => each instanceof File);

/** Lists and objects are sent as JSON. */
export const textOfPart = (value: Exclude<SentValue, File>): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** A list of files is sent as one part for each file. */
export function partsOf([name, value]: [string, SentValue]): [string, SentValue][] {
  return isFileList(value) ? value.map((each) => [name, each]) : [[name, value]];
}

export function curlCode(card: CalledModel, mode: CallMode, input: SentInput): string {
  const { urls } = card;
  const call = (address: string | undefined, flags: string) =>
    [`curl ${flags} ${address}`, keyHeader, ...Object.entries(input).flatMap(partsOf).map(formPart)].join(" \\\n  ");
  if (mode === "sync") return call(urls.predict, "-s");
  if (mode === "stream") return call(urls.stream, "-sN");
  return [
    `ID=$(${call(urls.async, "-s")} | grep -o 'pred_[a-z0-9]*' | head -n 1)`,
    "",
    "# Waits up to 30 seconds. Status 202 means that the prediction is still running.",
    `curl -s "${urls.result}?request_id=$ID&wait=30" ${keyHeader}`,
  ].join("\n");
}

/** The base URL of the server, taken from the model's own URLs. */
export const serverUrlOf = ({ urls, endpoint_id }: CalledModel): string =>
  (urls.predict ?? "").replace(`/api/v1/${endpoint_id}/predict`, "");
