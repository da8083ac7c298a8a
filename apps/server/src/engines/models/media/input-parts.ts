import { type FileInput, filesIn, type InputValue, type ModelCall } from "../driver.ts";
import type { MediaBackend } from "./call.ts";

export interface InputParts {
  /** In the order of the manifest. Each file of a list has the name of its field. */
  files: readonly (readonly [name: string, file: FileInput])[];
  /** Everything else, without nulls. */
  values: Record<string, Exclude<InputValue, FileInput | null>>;
}

/** Splits files from values, both in the manifest's order: upstreams depend on the order of image, image1, … */
export function inputParts(backend: MediaBackend, call: Pick<ModelCall, "input">): InputParts {
  const files: [string, FileInput][] = [];
  const values: InputParts["values"] = {};
  const { properties } = backend.input;
  const take = (name: string) => {
    const value = call.input[name];
    if (value === undefined || value === null) return;
    const given = filesIn(value);
    if (given.length > 0) files.push(...given.map((file) => [name, file] as [string, FileInput]));
    else values[name] = value as Exclude<InputValue, FileInput | null>;
  };
  for (const name of Object.keys(properties)) take(name);
  for (const name of Object.keys(call.input)) if (!Object.hasOwn(properties, name)) take(name);
  return { files, values };
}

export function fieldText(value: unknown): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
