import type { SentInput, SentValue } from "../playground/form-values.rules.ts";
import { type CalledModel, type CallMode, partsOf, textOfPart } from "./call-code.rules.ts";

/** Uses fetch, which Node, Deno, Bun and browsers have: nothing to install. */
export function typescriptCode({ urls }: CalledModel, mode: CallMode, input: SentInput): string {
  const parts = Object.entries(input).flatMap(partsOf);
  const hasFiles = parts.some(([, value]) => value instanceof File);
  return [
    ...(hasFiles ? ['import { openAsBlob } from "node:fs";', ""] : []),
    'const headers = { "X-API-KEY": process.env.GANTRY_KEY ?? "" };',
    "const form = new FormData();",
    ...parts.map(appendLine),
    "",
    ...calls[mode](urls),
  ].join("\n");
}

function appendLine([name, value]: [string, SentValue]): string {
  const field = JSON.stringify(name);
  if (!(value instanceof File)) return `form.append(${field}, ${JSON.stringify(textOfPart(value))});`;
  const file = JSON.stringify(value.name);
  return `form.append(${field}, await openAsBlob(${file}), ${file});`;
}

const post = (address: string | undefined): string[] => [
  `const response = await fetch(${JSON.stringify(address)}, { method: "POST", headers, body: form });`,
  "if (!response.ok) throw new Error(await response.text());",
];

const calls: Record<CallMode, (urls: CalledModel["urls"]) => string[]> = {
  sync: ({ predict }) => [
    ...post(predict),
    "const { output_data, files } = await response.json();",
    "console.log(output_data, files);",
  ],
  stream: ({ stream }) => [
    ...post(stream),
    'let rest = "";',
    "for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {",
    '  const lines = (rest + chunk).split("\\n");',
    '  rest = lines.pop() ?? "";',
    '  for (const line of lines.filter((text) => text.startsWith("data: "))) {',
    "    const { output_data = {} } = JSON.parse(line.slice(6));",
    '    process.stdout.write(Object.values(output_data).flat().join(""));',
    "  }",
    "}",
  ],
  async: ({ async: submit, result }) => [
    ...post(submit),
    "const { prediction_id } = await response.json();",
    "",
    "// Each call waits up to 30 seconds. Status 202 means that the prediction is still running.",
    `const address = \`${result}?wait=30&request_id=\${prediction_id}\`;`,
    "let result;",
    "do {",
    "  const answer = await (await fetch(address, { headers })).json();",
    "  result = answer.inference_responses[0];",
    "} while (result.infer_details.status === 202);",
    "console.log(result.infer_details.status, result.response, result.files);",
  ],
};
