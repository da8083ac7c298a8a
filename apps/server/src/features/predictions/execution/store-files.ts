import { type FileOutput, isFileOutput, type ModelResult } from "../../../engines/models/driver.ts";
import type { StoredOutput } from "../prediction.ts";

/** Returns the output with the addresses of its files, which `store` returns. */
export async function storeFiles(
  output: ModelResult["output"],
  store: (field: string, file: FileOutput) => Promise<string>,
): Promise<StoredOutput> {
  const stored: StoredOutput = {};
  try {
    for (const [field, value] of Object.entries(output)) {
      if (isFileOutput(value)) stored[field] = await store(field, value);
      else stored[field] = Array.isArray(value) ? await storedEntries(value, (file) => store(field, file)) : value;
    }
  } catch (error) {
    dropFiles(output);
    throw error;
  }
  return stored;
}

/** A list of files may be long, so its files are stored one after the other. */
async function storedEntries(list: readonly unknown[], store: (file: FileOutput) => Promise<string>) {
  const entries: unknown[] = [];
  for (const entry of list) entries.push(isFileOutput(entry) ? await store(entry) : entry);
  return entries;
}

/** Frees the files that could not be stored. */
function dropFiles(output: ModelResult["output"]): void {
  for (const value of Object.values(output).flat()) {
    if (isFileOutput(value) && "destroy" in value.body) value.body.on("error", () => {}).destroy();
  }
}
