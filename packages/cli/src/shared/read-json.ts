import { readFileSync } from "node:fs";
import { wrongArguments } from "../frame/failure.ts";

/** The text of a file, or of stdin for `-`. */
export async function readText(file: string): Promise<string> {
  if (file === "-") {
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks).toString("utf8");
  }
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw wrongArguments(`Cannot read ${file}: ${(error as Error).message}`);
  }
}

/** A JSON object from a file, or from stdin for `-`. */
export async function readJsonObject<T extends object>(file: string): Promise<T> {
  const value = parsedJson(await readText(file), file === "-" ? "The text on stdin" : file);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as T;
  throw wrongArguments(`${file === "-" ? "The text on stdin" : file} must contain a JSON object.`);
}

export function parsedJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrongArguments(`${name} is not valid JSON: ${(error as Error).message}`);
  }
}
