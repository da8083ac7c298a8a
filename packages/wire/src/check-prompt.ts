import type { z } from "zod";
import { promptedBackends } from "./backend-schema.ts";
import { tell } from "./field-schema.ts";
import { isRecord, typesOf } from "./field-value.ts";

type Fields = Readonly<Record<string, unknown>>;

const at = ["input", "properties", "prompt"];

/**
 * Every call of a model that is asked by `prompt` must have one, or a picture in its place: else it would be accepted,
 * and fail with nothing to ask.
 */
export function checkPrompt({ backend, input }: Fields, ctx: z.RefinementCtx<unknown>): void {
  if (!isRecord(backend) || !promptedBackends.has(backend.type)) return;
  if (!isRecord(input) || !isRecord(input.properties)) return;
  const { properties } = input;
  const required: readonly unknown[] = Array.isArray(input.required) ? input.required : [];
  if (backend.type !== "builtin" && hasPicture(properties, required)) return;
  const { prompt } = properties;
  if (prompt === undefined) {
    ctx.addIssue({ code: "invalid_type", expected: "string", path: at, message: "Field required" });
  } else if (isRecord(prompt)) {
    if (!typesOf(prompt).includes("string") || prompt.format === "binary") {
      tell(ctx, at, "Must be a text: it is what the model is asked");
    } else if (!isAlwaysText(prompt, required.includes("prompt"))) {
      tell(ctx, at, "Must be required and not null, or have a default: it is what the model is asked");
    }
  }
}

function hasPicture(properties: Fields, required: readonly unknown[]): boolean {
  return Object.entries(properties).some(
    ([name, field]) =>
      isRecord(field) && field.format === "binary" && field["x-media"] === "image" && required.includes(name),
  );
}

/** Blanks are no question: some backends refuse them, others make one up. */
export function asksNothing(prompt: unknown): boolean {
  return prompt === undefined || prompt === null || (typeof prompt === "string" && prompt.trim() === "");
}

/** Null means the default. */
function isAlwaysText(prompt: Fields, isRequired: boolean): boolean {
  if (typeof prompt.default === "string" && !asksNothing(prompt.default)) return true;
  return isRequired && !typesOf(prompt).includes("null");
}
