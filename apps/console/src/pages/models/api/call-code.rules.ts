import type { ModelCard } from "@gantry/sdk";
import type { SentInput, SentValue } from "../playground/form-values.rules.ts";

export type Way = "wait" | "stream" | "queue";
export type CalledModel = Pick<ModelCard, "endpoint_id" | "urls" | "output">;

export const isStreamed = ({ output }: Pick<ModelCard, "output">): boolean =>
  Object.values(output.properties).some((field) => field.isStream === true);

/** A model that streams has no other way to be waited for. */
export const waysOf = (card: Pick<ModelCard, "output">): readonly Way[] =>
  isStreamed(card) ? ["stream", "queue"] : ["wait", "queue"];

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
const keyHeader = '-H "X-API-KEY: $GANTRY_KEY"';

/** One field, such that curl takes no text for a file, and none of it for an option of its own. */
function formPart([name, value]: [string, SentValue]): string {
  if (value instanceof File) return `-F ${quoted(`${name}=@"${value.name.replaceAll(/["\\]/g, "\\$&")}"`)}`;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const isTaken = /^[@<"]|;/.test(text);
  return `${isTaken ? "--form-string" : "-F"} ${quoted(`${name}=${text}`)}`;
}

export function curlCode(card: CalledModel, way: Way, input: SentInput): string {
  const { urls } = card;
  const call = (address: string | undefined, flags: string) =>
    [`curl ${flags} ${address}`, keyHeader, ...Object.entries(input).map(formPart)].join(" \\\n  ");
  if (way === "wait") return call(urls.predict, "-s");
  if (way === "stream") return call(urls.stream, "-sN");
  return [
    `ID=$(${call(urls.async, "-s")} | grep -o 'pred_[a-z0-9]*' | head -n 1)`,
    "",
    "# Waits up to 30 seconds; a status of 202 says that it has not ended yet.",
    `curl -s "${urls.result}?request_id=$ID&wait=30" ${keyHeader}`,
  ].join("\n");
}

/** The address of the service, as the links of a model have it. */
const serviceIn = ({ urls, endpoint_id }: CalledModel): string =>
  (urls.predict ?? "").replace(`/api/v1/${endpoint_id}/predict`, "");

function literal(value: unknown, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
}

function inputLiteral(input: SentInput): string {
  const lines = Object.entries(input).map(([name, value]) => {
    const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
    const shown = value instanceof File ? `await openAsBlob(${JSON.stringify(value.name)})` : literal(value, "  ");
    return `  ${key}: ${shown},\n`;
  });
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
}

export function typescriptCode(card: CalledModel, way: Way, input: SentInput): string {
  const hasFiles = Object.values(input).some((value) => value instanceof File);
  const head = [
    ...(hasFiles ? ['import { openAsBlob } from "node:fs";'] : []),
    `import { createClient${way === "stream" ? ", textOf" : ""} } from "@gantry/sdk";`,
    "",
    `const client = createClient({ url: ${JSON.stringify(serviceIn(card))}, key: process.env.GANTRY_KEY });`,
    `const input = ${inputLiteral(input)};`,
    "",
  ];
  const model = JSON.stringify(card.endpoint_id);
  return [...head, ...callLines[way](model)].join("\n");
}

const callLines: Record<Way, (model: string) => string[]> = {
  wait: (model) => [
    `const { output_data, files } = await client.predict(${model}, input);`,
    "console.log(output_data, files);",
  ],
  stream: (model) => [
    `for await (const event of client.stream(${model}, input)) {`,
    "  process.stdout.write(textOf(event));",
    "}",
  ],
  queue: (model) => [
    `const id = await client.submit(${model}, input);`,
    `const { output_data, files } = await client.waitFor(${model}, id);`,
    "console.log(output_data, files);",
  ],
};
