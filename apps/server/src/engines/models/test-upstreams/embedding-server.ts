import { jsonReply, type ScriptedServer, type Seen, startScripted } from "./scripted-server.ts";

interface Entry {
  object: "embedding";
  index?: number;
  embedding: unknown;
}

export interface EmbeddingServer extends ScriptedServer {
  /** How the next requests are answered. */
  as: {
    /** `float` also if base64 was asked for, as many servers do. */
    format: "asked" | "float";
    usage: unknown;
    /** Changes the entries before they are sent. */
    change(entries: Entry[]): unknown[];
    /** Length of the vectors, unless the request asks for one. */
    dimensions: number;
  };
}

/** A vector that can be computed from the text: values that 32-bit floats hold exactly. */
export function vectorOf(text: string, dimensions: number): number[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: dimensions }, (_, n) => ((bytes[n % bytes.length] ?? 0) - 128 + n) / 256);
}

function base64Of(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString("base64");
}

interface Request {
  input: string | string[];
  dimensions?: number;
  encoding_format?: string;
}

export async function startOpenAiEmbeddings(key: string): Promise<EmbeddingServer> {
  const as: EmbeddingServer["as"] = {
    format: "asked",
    usage: { prompt_tokens: 8, total_tokens: 8 },
    change: (entries) => entries,
    dimensions: 4,
  };
  const server = await startScripted(({ headers, path, body }: Seen) => {
    if (headers.authorization !== `Bearer ${key}`) return jsonReply({ error: { code: "invalid_api_key" } }, 401);
    if (path !== "/v1/embeddings") return jsonReply({ error: { code: "not_found" } }, 404);
    const { input, dimensions = as.dimensions, encoding_format: format } = JSON.parse(String(body)) as Request;
    const isText = as.format === "asked" && format === "base64";
    const entries = [input].flat().map((text, index): Entry => {
      const vector = vectorOf(text, dimensions);
      return { object: "embedding", index, embedding: isText ? base64Of(vector) : vector };
    });
    return jsonReply({ object: "list", data: as.change(entries), model: "m", usage: as.usage });
  });
  return Object.assign(server, { as });
}
