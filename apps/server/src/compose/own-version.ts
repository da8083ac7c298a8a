import { readFileSync } from "node:fs";
import { manifestFile } from "../config/own-folder.ts";

export function readOwnVersion(): string {
  const { version } = JSON.parse(readFileSync(manifestFile, "utf8"));
  return String(version);
}
