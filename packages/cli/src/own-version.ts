import { readFileSync } from "node:fs";

/** The npm package contains a bundle. A checkout runs its TypeScript. */
export const isPackaged = import.meta.url.endsWith(".js");

export function readOwnVersion(): string {
  const manifest = new URL(isPackaged ? "../package.json" : "../../../package.json", import.meta.url);
  return String(JSON.parse(readFileSync(manifest, "utf8")).version);
}
