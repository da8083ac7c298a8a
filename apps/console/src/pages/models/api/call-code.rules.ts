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
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const isSpecial = /^[@<"]|;/.test(text);
  return `${isSpecial ? "--form-string" : "-F"} ${quoted(`${name}=${text}`)}`;
}

const isFileList = (value: SentValue): value is readonly (File | string)[] =>
  Array.isArray(value) && value.some((each) => each instanceof File);

/** A list of files is sent as one part for each file. */
function partsOf([name, value]: [string, SentValue]): [string, SentValue][] {
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

function literal(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

function valueLiteral(value: SentValue): string {
  return value instanceof File ? `await openAsBlob(${JSON.stringify(value.name)})` : literal(value, "  ");
}

function inputLiteral(input: SentInput): string {
  const lines = Object.entries(input).map(([name, value]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const shown = isFileList(value) ? `[${value.map(valueLiteral).join(", ")}]` : valueLiteral(value);
    return `  ${key}: ${shown},\n`;
  });
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
}

export function typescriptCode(card: CalledModel, mode: CallMode, input: SentInput): string {
  const hasFiles = Object.values(input).some((value) => value instanceof File || isFileList(value));
  const head = [
    ...(hasFiles ? ['import { openAsBlob } from "node:fs";'] : []),
    `import { createClient${mode === "stream" ? ", textOf" : ""} } from "@gantry/sdk";`,
    "",
    `const client = createClient({ url: ${JSON.stringify(serverUrlOf(card))}, key: process.env.GANTRY_KEY });`,
    `const input = ${inputLiteral(input)};`,
    "",
  ];
  const model = JSON.stringify(card.endpoint_id);
  return [...head, ...callLines[mode](model)].join("\n");
}

const callLines: Record<CallMode, (model: string) => string[]> = {
  sync: (model) => [
    `const { output_data, files } = await client.predict(${model}, input);`,
    "console.log(output_data, files);",
  ],
  stream: (model) => [
    `for await (const event of client.stream(${model}, input)) {`,
    "  process.stdout.write(textOf(event));",
    "}",
  ],
  async: (model) => [
    `const id = await client.submit(${model}, input);`,
    `const { output_data, files } = await client.waitFor(${model}, id);`,
    "console.log(output_data, files);",
  ],
};
