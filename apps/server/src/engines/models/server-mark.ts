import { createHash } from "node:crypto";

/** Names the upstream of an answer. A hash, because stored messages must not reveal the server's address. */
export function serverMark(url: string, model = ""): string {
  return createHash("sha256").update(`${url}\n${model}`).digest("hex").slice(0, 16);
}
