import type { ObjectSchema } from "@gantry/wire";
import { isFileOutput, type ModelDriver, type OutputValue } from "../driver.ts";
import { fileFieldsOf, streamedFieldOf, typesOf } from "./output-fields.ts";

const ignore = () => {};

/**
 * Renames the single value of a driver, a text or a file, to the matching output field of the manifest. Fragments are
 * passed on only if the manifest has a streamed field.
 */
export function fillingOutput(run: ModelDriver["run"], output: ObjectSchema): ModelDriver["run"] {
  const streamed = streamedFieldOf(output);
  return async (call) => {
    const onFragment =
      streamed === undefined ? ignore : (_ownName: string, fragment: string) => call.onFragment(streamed, fragment);
    const { output: produced, ...rest } = await run({ ...call, onFragment });
    const filled: Record<string, OutputValue> = {};
    for (const [ownName, value] of Object.entries(produced)) {
      const field = fieldFor(output, ownName, value);
      if (field !== undefined) filled[field] = value;
    }
    return { output: filled, ...rest };
  };
}

/** A text never fills a file field, and prefers a string field. */
function fieldFor(output: ObjectSchema, ownName: string, value: OutputValue): string | undefined {
  const files = fileFieldsOf(output);
  const names = Object.keys(output.properties).filter((name) => !files.includes(name));
  const others = names.toSorted((one, other) => Number(takesText(output, other)) - Number(takesText(output, one)));
  const fitting = isFileOutput(value) && files.length > 0 ? files : others;
  const streamed = isFileOutput(value) ? undefined : streamedFieldOf(output);
  return streamed ?? (fitting.includes(ownName) ? ownName : fitting[0]);
}

function takesText({ properties }: ObjectSchema, name: string): boolean {
  const types = typesOf(properties[name]);
  return types.length === 0 || types.includes("string");
}
