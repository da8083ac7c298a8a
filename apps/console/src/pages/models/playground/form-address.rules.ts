import { isRecord } from "../../../ui/json.rules.ts";
import { type FormValues, initialValues, inputOf, type SentValue } from "./form-values.rules.ts";
import type { FormField } from "./input-form.rules.ts";

/** Longer texts would exceed what browsers and proxies accept as an address. */
const longestInAddress = 400;

/** A text that is kept in this tab instead of the address. */
interface TextReference {
  $text: string;
}
const isReference = (value: unknown): value is TextReference => isRecord(value) && typeof value.$text === "string";

export interface LongTexts {
  keep(text: string): string;
  find(id: string): string | undefined;
}

/** What would be sent, without local files. Undefined for the form as it was opened. */
export function addressOf(
  fields: readonly FormField[],
  values: FormValues,
  long: LongTexts,
): Record<string, unknown> | undefined {
  const sent = inputOf(fields, values);
  if (JSON.stringify(sent) === JSON.stringify(inputOf(fields, initialValues(fields)))) return undefined;
  const entries = Object.entries(sent).flatMap(([name, value]): [string, unknown][] => {
    const text = inAddress(value, long);
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(entries);
}

function inAddress(value: SentValue, long: LongTexts): unknown {
  if (value instanceof Blob) return undefined;
  if (Array.isArray(value) && value.some((each) => each instanceof Blob)) {
    return value.filter((each) => typeof each === "string");
  }
  const size = typeof value === "string" ? value.length : JSON.stringify(value).length;
  if (size <= longestInAddress) return value;
  return { $text: long.keep(typeof value === "string" ? value : JSON.stringify(value)) } satisfies TextReference;
}

/** Texts that this tab no longer has are left out. */
export function inputInAddress(
  address: Readonly<Record<string, unknown>>,
  long: Pick<LongTexts, "find">,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(address).flatMap(([name, value]): [string, unknown][] => {
      if (!isReference(value)) return [[name, value]];
      const text = long.find(value.$text);
      return text === undefined ? [] : [[name, text]];
    }),
  );
}
