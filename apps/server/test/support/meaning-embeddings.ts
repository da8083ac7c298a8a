import { createHash } from "node:crypto";
import {
  jsonReply,
  type ScriptedServer,
  startScripted,
} from "../../src/engines/models/test-upstreams/scripted-server.ts";

/** Words with the same meaning, one row a meaning. */
export const synonyms: readonly (readonly string[])[] = [
  ["pump", "impeller"],
  ["furnace", "kiln"],
  ["conveyor", "belt"],
  ["crane", "hoist"],
  ["turbine", "rotor"],
  ["boiler", "heater"],
  ["truck", "lorry"],
  ["elevator", "lift"],
  ["compressor", "blower"],
  ["generator", "dynamo"],
  ["cabinet", "cupboard"],
  ["gasket", "seal"],
  ["pipe", "tube"],
  ["engine", "motor"],
  ["sensor", "detector"],
  ["screen", "display"],
  ["lamp", "light"],
  ["fence", "barrier"],
  ["garage", "depot"],
  ["kitchen", "canteen"],
  ["overheats", "swelters"],
  ["leaks", "drips"],
  ["vibrates", "shakes"],
  ["corrodes", "rusts"],
  ["jams", "blocks"],
  ["cracks", "splits"],
  ["stops", "halts"],
  ["smells", "stinks"],
  ["buzzes", "hums"],
  ["freezes", "ices"],
  ["loosens", "slackens"],
  ["ignites", "burns"],
  ["expands", "grows"],
  ["rotates", "spins"],
  ["collapses", "crumbles"],
  ["bends", "warps"],
  ["scratches", "scrapes"],
  ["slips", "slides"],
  ["fades", "pales"],
  ["rattles", "clatters"],
];

export const meaningDimensions = 256;

const meanings = new Map(synonyms.flatMap((words, n) => words.map((word) => [word, `meaning ${n}`] as const)));

/** Length 1. Texts with words of the same meaning are near; a name or a number changes the vector little. */
export function meaningVector(text: string): Float32Array {
  const vector = new Float32Array(meaningDimensions);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const meaning = meanings.get(word);
    const hash = createHash("sha256")
      .update(meaning ?? word)
      .digest();
    // Each word is a direction of its own.
    for (let at = 0; at < 16; at += 2) {
      const place = (hash[at] ?? 0) % meaningDimensions;
      vector[place] = (vector[place] ?? 0) + ((hash[at + 1] ?? 0) & 1 ? 1 : -1) * (meaning ? 1 : 0.1);
    }
  }
  const length = Math.hypot(...vector) || 1;
  return vector.map((value) => value / length);
}

/** An OpenAI-compatible server whose vectors know the synonyms. Use it with a backend of type `openai-embeddings`. */
export function startMeaningEmbeddings(): Promise<ScriptedServer> {
  return startScripted(({ path, body }) => {
    if (path !== "/v1/embeddings") return jsonReply({ error: { code: "not_found" } }, 404);
    const { input } = JSON.parse(String(body)) as { input: string | string[] };
    const data = [input].flat().map((text, index) => {
      return { object: "embedding", index, embedding: [...meaningVector(text)] };
    });
    return jsonReply({ object: "list", data, model: "m", usage: { prompt_tokens: 8, total_tokens: 8 } });
  });
}
