import { openAsBlob } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { wrongArguments } from "../frame/failure.ts";

/** Opened, not read: the file is sent from disk. */
export async function openFile(path: string): Promise<File> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) throw wrongArguments(`Cannot read the file ${path}.`);
  try {
    return new File([await openAsBlob(path)], basename(path));
  } catch {
    throw wrongArguments(`Cannot read the file ${path}.`);
  }
}
