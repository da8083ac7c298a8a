import type { UpstreamModel } from "@gantry/wire";
import { isRecord } from "../../../kernel/is-record.ts";

type Modality = UpstreamModel["input_modalities"][number];

/** As long as `model` of a backend may be. */
const longestId = 200;
const longestTitle = 200;
const longestDescription = 2000;
/** More than any model has. Larger numbers are not believed. */
const mostTokens = 100_000_000;

/** Control characters, and those that hide text or change its direction. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

export function idFrom(value: unknown): string | undefined {
  if (typeof value !== "string" || value.trim() === "" || value.length > longestId) return undefined;
  return value.search(invisible) < 0 && value.isWellFormed() ? value : undefined;
}

export function tokensFrom(...values: unknown[]): number | null {
  for (const value of values) {
    if (typeof value === "number" && value >= 1 && value <= mostTokens) return Math.floor(value);
  }
  return null;
}

export function booleanFrom(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

export function textsFrom(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** The object in a field, or an empty one. */
export function recordFrom(value: unknown): Record<string, unknown> {
  return isRecord(value) ? value : {};
}

/** `8.0B`, `7.6B` or `335M`. */
export function billionsFrom(value: unknown): number | null {
  const [, digits, unit] = /^(\d{1,6}(?:\.\d{1,3})?)\s*([BM])$/i.exec(typeof value === "string" ? value : "") ?? [];
  if (digits === undefined || unit === undefined) return null;
  const billions = unit.toUpperCase() === "B" ? Number(digits) : Number(digits) / 1000;
  return billions > 0 ? billions : null;
}

function line(value: unknown, longest: number): string {
  if (typeof value !== "string") return "";
  const clean = value.toWellFormed().replace(invisible, " ").replace(/\s+/g, " ").trim();
  return clean.length <= longest ? clean : `${clean.slice(0, longest - 1).toWellFormed()}…`;
}

const modalityNames: Readonly<Record<string, Modality>> = {
  text: "text",
  image: "image",
  images: "image",
  vision: "image",
  audio: "audio",
  speech: "audio",
  video: "video",
  file: "file",
  pdf: "file",
  embedding: "embedding",
  embeddings: "embedding",
};

/** Names that a manifest does not know are left out. */
export function modalitiesFrom(value: unknown): Modality[] {
  const known = textsFrom(value).flatMap((name) => modalityNames[name.toLowerCase()] ?? []);
  return [...new Set(known)];
}

const outputOf: Partial<Record<UpstreamModel["kind"], Modality>> = {
  text: "text",
  image: "image",
  embedding: "embedding",
};

interface Stated extends Partial<Omit<UpstreamModel, "id" | "kind" | "title" | "description">> {
  title?: unknown;
  description?: unknown;
}

/** A model with what its server states. The rest is null. */
export function modelOf(id: string, kind: UpstreamModel["kind"], stated: Stated = {}): UpstreamModel {
  const { title, description, input_modalities: inputs = [], output_modalities: outputs = [], ...rest } = stated;
  const output = outputOf[kind];
  return {
    id,
    title: line(title, longestTitle) || id,
    description: line(description, longestDescription),
    kind,
    context_window: null,
    max_output_tokens: null,
    model_size_in_billions: null,
    tools: null,
    pricing: null,
    ...rest,
    input_modalities: inputs.length > 0 ? inputs : ["text"],
    output_modalities: outputs.length > 0 || output === undefined ? outputs : [output],
  };
}

/** A list whose entries may repeat. The first of each id counts. */
export function withoutRepeats(models: readonly UpstreamModel[]): UpstreamModel[] {
  const byId = new Map<string, UpstreamModel>();
  for (const model of models) if (!byId.has(model.id)) byId.set(model.id, model);
  return [...byId.values()];
}
