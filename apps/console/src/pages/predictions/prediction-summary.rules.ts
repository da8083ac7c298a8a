import type { PredictionSummary } from "@gantry/sdk";

type Named = Pick<PredictionSummary, "id" | "agent" | "preview">;

/** What a person recognises the prediction by: its prompt, the agent that called it, or its id. */
export function titleOf({ id, agent, preview }: Named): string {
  const prompt = firstLine(preview.input);
  if (prompt !== undefined) return prompt;
  return agent ? `Model call by ${agent.name}` : id;
}

/** Undefined for empty text. */
export const firstLine = (text: string | null): string | undefined =>
  text
    ?.split("\n")
    .map((line) => line.trim())
    .find((line) => line !== "");

/** Markdown in one line: without the marks of headings, bold text and code. */
export const plainLine = (text: string): string => text.replace(/\*\*|`+/g, "").replace(/(^|\s)#{1,6}\s/g, "$1");

/** The first line of what a model answered. */
export function answerOf({ preview }: Pick<PredictionSummary, "preview">): string | undefined {
  const line = firstLine(preview.output);
  return line === undefined ? undefined : plainLine(line);
}

export const isLive = ({ status }: Pick<PredictionSummary, "status">): boolean =>
  status === "waiting" || status === "running";

/** How often a list asks again, in milliseconds: quickly while something runs. */
export const refreshEvery = (rows: readonly Pick<PredictionSummary, "status">[] | undefined): number =>
  rows?.some(isLive) ? 2_000 : 10_000;

/** `owner/model` as path parameters. Undefined for `agents/creator/slug`. */
export function modelParamsOf(modelName: string): { owner: string; name: string } | undefined {
  const [owner = "", name = "", ...more] = modelName.split("/");
  return name === "" || more.length > 0 ? undefined : { owner, name };
}
