import type { ModelCard } from "@gantry/sdk";
import type { SentInput } from "../playground/form-values.rules.ts";
import { type CalledModel, quoted, serverUrlOf } from "./call-code.rules.ts";

type OpenAiModel = CalledModel & Pick<ModelCard, "kind">;
type Fields = Record<string, unknown>;

interface Call {
  path: string;
  /** The method of the official clients, which has the same name in TypeScript and Python. */
  method: string;
  body(input: SentInput): Fields;
  typescript: readonly string[];
  python: readonly string[];
}

/** Fields of the playground that the protocol has under the same name. */
function given(input: SentInput, names: readonly string[]): Fields {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = input[name];
      return typeof value === "number" || (typeof value === "string" && value !== "") ? [[name, value]] : [];
    }),
  );
}

const textOr = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;

/** By kind of the model. Other kinds have no route in OpenAI's protocol. */
const calls: Readonly<Partial<Record<string, Call>>> = {
  text: {
    path: "/chat/completions",
    method: "chat.completions.create",
    body: (input) => ({
      messages: [{ role: "user", content: textOr(input.prompt, "Say hello.") }],
      ...given(input, ["max_tokens", "temperature", "top_p", "seed"]),
    }),
    typescript: ["console.log(answer.choices[0].message.content);"],
    python: ["print(answer.choices[0].message.content)"],
  },
  image: {
    path: "/images/generations",
    method: "images.generate",
    body: (input) => ({
      prompt: textOr(input.prompt, "A lighthouse at dusk"),
      ...given(input, ["size"]),
      response_format: "url",
    }),
    typescript: ["console.log(answer.data?.[0]?.url);"],
    python: ["print(answer.data[0].url)"],
  },
  embedding: {
    path: "/embeddings",
    method: "embeddings.create",
    body: (input) => ({ input: textOr(input.input, "A lighthouse at dusk"), ...given(input, ["dimensions"]) }),
    typescript: ["console.log(answer.data[0].embedding);"],
    python: ["print(answer.data[0].embedding)"],
  },
};

export const openAiBaseUrl = (card: CalledModel): string => `${serverUrlOf(card)}/v1`;

interface OpenAiCode {
  curl: string;
  typescript: string;
  python: string;
}

/** Undefined for kinds of models that OpenAI's protocol does not have. */
export function openAiCode(card: OpenAiModel, input: SentInput): OpenAiCode | undefined {
  const call = calls[card.kind];
  if (!call) return undefined;
  const base = openAiBaseUrl(card);
  const body = { model: card.endpoint_id, ...call.body(input) };
  const fields = Object.entries(body);
  return {
    curl: [
      `curl -s ${base}${call.path}`,
      '-H "Authorization: Bearer $GANTRY_KEY"',
      '-H "Content-Type: application/json"',
      `-d ${quoted(JSON.stringify(body))}`,
    ].join(" \\\n  "),
    typescript: [
      "// npm install openai",
      'import OpenAI from "openai";',
      "",
      `const client = new OpenAI({ baseURL: ${JSON.stringify(base)}, apiKey: process.env.GANTRY_KEY });`,
      `const answer = await client.${call.method}({`,
      ...fields.map(([name, value]) => `  ${name}: ${JSON.stringify(value)},`),
      "});",
      ...call.typescript,
    ].join("\n"),
    python: [
      "# pip install openai",
      "import os",
      "from openai import OpenAI",
      "",
      `client = OpenAI(base_url=${JSON.stringify(base)}, api_key=os.environ["GANTRY_KEY"])`,
      `answer = client.${call.method}(`,
      ...fields.map(([name, value]) => `    ${name}=${JSON.stringify(value)},`),
      ")",
      ...call.python,
    ].join("\n"),
  };
}
