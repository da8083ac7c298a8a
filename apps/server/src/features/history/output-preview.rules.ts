import { previewOf } from "../predictions/index.ts";

/** The beginning of `{"field":"text…`, which may be cut anywhere. */
const firstText = /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"((?:[^"\\]|\\u[0-9a-fA-F]{4}|\\[^u])*)/;

/** The beginning of the first field, if it is a text. Files are not texts. */
export function previewOfOutput(head: string | null): string | null {
  const [, escaped] = firstText.exec(head ?? "") ?? [];
  if (escaped === undefined) return null;
  const text: string = JSON.parse(`"${escaped}"`);
  return text.startsWith("s3://") ? null : (previewOf(text) ?? null);
}
