import type { RunText } from "@gantry/sdk";

/** What the model is writing. */
export interface LiveText {
  predictionId: string;
  text: string;
  reasoning: string;
}

/** Each call starts with an empty text, and so does the retry of a call. */
export function addText(before: LiveText | undefined, { call_id, kind, text }: RunText): LiveText {
  const base = before?.predictionId === call_id ? before : { predictionId: call_id, text: "", reasoning: "" };
  return { ...base, [kind]: base[kind] + text };
}
