import { readFile } from "node:fs/promises";
import type { FieldSchema, ModelCard, ModelPricing, NewModel, ObjectSchema, Pricing } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { exitCodes, wrongArguments } from "../frame/failure.ts";
import { ago, cell, money } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import type { Output } from "../frame/output.ts";
import { readStdin } from "../frame/terminal.ts";
import { describeField, exampleOf, parsedJson } from "../predictions/input.rules.ts";
import { confirmed } from "../shared/questions.ts";
import { modelName } from "./model-name.rules.ts";

export async function listModels(context: Context): Promise<number> {
  const {
    words: [q],
    text,
    signal,
  } = context;
  const { models } = await context.client();
  return printList<ModelCard>(
    context,
    models.each({ kind: text("kind") as ModelCard["kind"] | undefined, q, signal }),
    [
      { title: "model", value: ({ endpoint_id }) => endpoint_id },
      { title: "kind", value: ({ kind }) => kind },
      { title: "price", value: ({ pricing }) => priceParts(pricing).join(", ") },
      { title: "title", value: ({ title }) => title },
    ],
    q === undefined ? "No models. Connect a provider with gantry models connect." : `No model matches ${q}.`,
  );
}

export async function showModel({ words, out, flag, client, signal }: Context): Promise<number> {
  const card = await (await client()).models.card(modelName(words[0]), { signal });
  if (flag("json")) out.json(card);
  else printCard(out, card);
  return exitCodes.done;
}

function printCard(out: Output, card: ModelCard): void {
  out.details([
    ["Model", card.endpoint_id],
    ["Title", card.title],
    ["Kind", card.kind],
    ["Price", priceParts(card.pricing).join("\n")],
    ["Context", card.context_window === undefined ? null : `${card.context_window} tokens`],
    ["Visibility", card.visibility],
    ["State", card.capacity === 0 ? "not active" : card.taken_down ? "taken down by an admin" : null],
    ["Changed", ago(card.updated_at)],
  ]);
  if (card.description !== "") out.line(`\n${card.description}`);
  printFields(out, "Input", card.input);
  printFields(out, "Output", card.output);
  out.line(`\nExample\n  ${exampleLine(card)}`);
}

function printFields(out: Output, title: "Input" | "Output", { properties, required = [] }: ObjectSchema): void {
  out.line(`\n${title}`);
  out.details(
    Object.entries(properties).map(([name, field]) => {
      const isRequired = title === "Input" && required.includes(name);
      const kind = title === "Input" ? describeField(field) : kindOf(field);
      const usual = defaultOf(field);
      const meaning = cell(field.description ?? field.title ?? "");
      const takes = `${kind}${usual === "" ? "" : ` (${isRequired ? "example" : "default"}: ${usual})`}`;
      return [`  ${name}${isRequired ? " *" : ""}`, meaning === "" ? takes : `${takes}\n${meaning}`] as const;
    }),
  );
}

const mostShown = 60;

function defaultOf({ default: value }: FieldSchema): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > mostShown ? `${text.slice(0, mostShown)}…` : text;
}

function kindOf(field: FieldSchema): string {
  return field.format === "binary"
    ? (field["x-media"] ?? "file")
    : field.isStream
      ? "text, streamed"
      : describeField(field);
}

function exampleLine({ endpoint_id, input }: ModelCard): string {
  const required = (input.required ?? []).map((name) => `${name}=${exampleOf(input.properties[name] ?? {})}`);
  return ["gantry predict", endpoint_id, ...required].join(" ");
}

const units: readonly (readonly [keyof Pricing, string])[] = [
  ["per_request", "per run"],
  ["per_second", "per second"],
  ["per_output", "per output"],
  ["per_million_input_tokens", "per 1M input tokens"],
  ["per_million_cached_tokens", "per 1M cached tokens"],
  ["per_million_cache_write_tokens", "per 1M tokens written to cache"],
  ["per_million_output_tokens", "per 1M output tokens"],
];

function priceParts({ batch_factor: factor = 1, ...pricing }: ModelPricing): string[] {
  const parts: string[] = units.flatMap(([part, unit]) => {
    const dollars = pricing[part] ?? 0;
    return dollars > 0 ? [`${money(dollars)} ${unit}`] : [];
  });
  if (parts.length === 0) return ["Free"];
  return factor === 1 ? parts : [...parts, `${Math.round(factor * 10_000) / 100}% of these prices in batches`];
}

const mostManifestBytes = 4 * 1024 * 1024;

export async function putModel({ words, out, flag, client, signal }: Context): Promise<number> {
  const [, file = ""] = words;
  const model = modelName(words[0]);
  const text = await manifestText(file);
  const manifest = parsedJson(text);
  if (typeof manifest !== "object" || manifest === null)
    throw wrongArguments(`${file} does not contain a JSON object.`);
  const card = await (await client()).models.put(model, manifest as unknown as NewModel, { signal });
  if (flag("json")) out.json(card);
  else out.line(`Saved ${card.endpoint_id}, version ${card.version}.`);
  return exitCodes.done;
}

async function manifestText(file: string): Promise<string> {
  if (file === "-") return readStdin(mostManifestBytes, "The manifest on stdin is too long.");
  try {
    return await readFile(file, "utf8");
  } catch {
    throw wrongArguments(`Cannot read the file ${file}.`);
  }
}

export async function deleteModel(context: Context): Promise<number> {
  const { words, out, flag, client, signal } = context;
  const model = modelName(words[0]);
  const { models } = await client();
  const asked = `Delete ${model}? New calls are refused; accepted ones finish.`;
  if (!(await confirmed(context, asked, `delete ${model}`))) return exitCodes.failed;
  await models.delete(model, { signal });
  if (flag("json")) out.json({ endpoint_id: model, deleted: true });
  else out.line(`Deleted ${model}.`);
  return exitCodes.done;
}
