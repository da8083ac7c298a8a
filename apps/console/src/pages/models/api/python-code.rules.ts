import type { SentInput, SentValue } from "../playground/form-values.rules.ts";
import { type CalledModel, type CallMode, partsOf, textOfPart } from "./call-code.rules.ts";

/** JSON's strings are Python's, too. */
const literal = (text: string): string => JSON.stringify(text);

export function pythonCode({ urls }: CalledModel, mode: CallMode, input: SentInput): string {
  return [
    "# pip install requests",
    ...(mode === "stream" ? ["import json"] : []),
    "import os",
    "import requests",
    "",
    'headers = {"X-API-KEY": os.environ["GANTRY_KEY"]}',
    "form = [",
    ...Object.entries(input).flatMap(partsOf).map(partLine),
    "]",
    "",
    ...calls[mode](urls),
  ].join("\n");
}

/** A part without a file name is a plain field. */
function partLine([name, value]: [string, SentValue]): string {
  const content =
    value instanceof File ? `open(${literal(value.name)}, "rb")` : `(None, ${literal(textOfPart(value))})`;
  return `    (${literal(name)}, ${content}),`;
}

const calls: Record<CallMode, (urls: CalledModel["urls"]) => string[]> = {
  sync: ({ predict = "" }) => [
    `response = requests.post(${literal(predict)}, headers=headers, files=form)`,
    "response.raise_for_status()",
    "answer = response.json()",
    'print(answer["output_data"], answer["files"])',
  ],
  stream: ({ stream = "" }) => [
    `with requests.post(${literal(stream)}, headers=headers, files=form, stream=True) as response:`,
    "    response.raise_for_status()",
    "    for line in response.iter_lines():",
    '        if not line.startswith(b"data: "):',
    "            continue",
    "        event = json.loads(line[6:])",
    '        for fragments in event.get("output_data", {}).values():',
    '            print("".join(fragments), end="", flush=True)',
  ],
  async: ({ async: submit = "", result = "" }) => [
    `response = requests.post(${literal(submit)}, headers=headers, files=form)`,
    "response.raise_for_status()",
    'prediction_id = response.json()["prediction_id"]',
    "",
    "# Each call waits up to 30 seconds. Status 202 means that the prediction is still running.",
    "while True:",
    "    response = requests.get(",
    `        ${literal(result)}, headers=headers, params={"request_id": prediction_id, "wait": 30}`,
    "    )",
    "    response.raise_for_status()",
    '    result = response.json()["inference_responses"][0]',
    '    if result["infer_details"]["status"] != 202:',
    "        break",
    'print(result["infer_details"]["status"], result["response"], result["files"])',
  ],
};
