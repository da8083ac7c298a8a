import { wrongArguments } from "../frame/failure.ts";

export function modelName(word: string | undefined): string {
  if (word !== undefined && /^[^/\s]+\/[^/\s]+$/.test(word)) return word;
  throw wrongArguments(`Give the model as owner/model, such as gantry/image. gantry models list shows them.`);
}
