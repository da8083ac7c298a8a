import { createHash } from "node:crypto";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { CheckedFile } from "./checked-file.ts";

/** The same for the same fields and the same bytes, in whatever order and way they were sent. */
export async function fingerprintOf(
  input: Readonly<Record<string, InputValue>>,
  files: readonly CheckedFile[],
  extras: Record<string, unknown>,
): Promise<string> {
  const contents: Record<string, string> = {};
  for (const file of files) {
    const hash = createHash("sha256");
    for await (const chunk of await file.open()) hash.update(chunk);
    contents[file.field] = hash.digest("hex");
  }
  const fields = Object.fromEntries(Object.entries(input).filter(([name]) => !(name in contents)));
  return createHash("sha256").update(canonical({ fields, contents, extras })).digest("hex");
}

/** JSON with the keys of every object in one order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
}
