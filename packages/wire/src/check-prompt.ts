import type { z } from "zod";
import { promptedBackends } from "./backend-schema.ts";
import { givenBackends } from "./backends.ts";
import { tell } from "./field-schema.ts";
import { isRecord, typesOf } from "./field-value.ts";
import { fileFieldOf } from "./file-field.ts";

type Fields = Readonly<Record<string, unknown>>;

const at = ["input", "properties", "prompt"];

/**
 * Every call of a model with a `prompt` must have one, or an image instead. Otherwise the call would be accepted and
 * fail.
 */
export function checkPrompt(manifest: Fields, ctx: z.RefinementCtx<unknown>): void {
  const types = givenBackends(manifest).map(({ backend }) => backend.type);
  if (!types.some((type) => promptedBackends.has(type))) return;
  const { input } = manifest;
  if (!isRecord(input) || !isRecord(input.properties)) return;
  const { properties } = input;
  const required: readonly unknown[] = Array.isArray(input.required) ? input.required : [];
  if (!types.includes("builtin") && hasPicture(properties, required)) return;
  const { prompt } = properties;
  if (prompt === undefined) {
    ctx.addIssue({ code: "invalid_type", expected: "string", path: at, message: "Field required" });
  } else if (isRecord(prompt)) {
    if (!typesOf(prompt).includes("string") || prompt.format === "binary") {
      tell(ctx, at, "Must be text: it is the question to the model");
    } else if (!isAlwaysText(prompt, required.includes("prompt"))) {
      tell(ctx, at, "Must be required and not null, or have a default: it is the question to the model");
    }
  }
}

function hasPicture(properties: Fields, required: readonly unknown[]): boolean {
  return Object.entries(properties).some(([name, field]) => {
    const file = isRecord(field) ? fileFieldOf(field) : undefined;
    const isEmpty = file?.list?.least === 0;
    return file?.file["x-media"] === "image" && !isEmpty && required.includes(name);
  });
}

/** A blank prompt does not count: some backends refuse it, others invent one. */
export function asksNothing(prompt: unknown): boolean {
  return prompt === undefined || prompt === null || (typeof prompt === "string" && prompt.trim() === "");
}

/** Null means the default. */
function isAlwaysText(prompt: Fields, isRequired: boolean): boolean {
  if (typeof prompt.default === "string" && !asksNothing(prompt.default)) return true;
  return isRequired && !typesOf(prompt).includes("null");
}
