import { endingOf } from "./content-type.rules.ts";

export const maxFilenameLength = 255;

/**
 * What of a client's file name goes into an address: the last segment, letters, digits, dots, dashes and underscores.
 * Everything else becomes an underscore, so that the address survives a shell, a query string and a file system.
 */
export function safeFilename(name: string): string {
  const last = name.toWellFormed().normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const safe = last.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").replace(/^[._]+/, "");
  return safe === "" ? "file" : safe;
}

/** The id makes it unique, the name makes a download land under it. */
export function uploadKey(fileId: string, filename: string | undefined): string {
  return `uploads/${fileId}/${safeFilename(filename ?? "")}`;
}

export function outputKey(predictionId: string, fileId: string, field: string, contentType: string): string {
  return `outputs/${predictionId}/${fileId}/${safeFilename(field).slice(0, 64)}.${endingOf(contentType)}`;
}

export function filenameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}
