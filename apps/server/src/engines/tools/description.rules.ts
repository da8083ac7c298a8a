import type { ToolServerTarget } from "./tools.ts";

/** Of what is shown of a tool's description. */
export const longestDescription = 8192;

/** Written as JSON, a character may take six. */
const longestCharacter = 6;

/**
 * What is kept of a description beyond that, where there is a credential: whoever shows it hides the credential first, and
 * of one that is cut through, a part would be left. Any that begins within what is shown is whole in what is kept.
 */
export function descriptionMargin({ header }: Pick<ToolServerTarget, "header">): number {
  return (header?.value.length ?? 0) * longestCharacter;
}
