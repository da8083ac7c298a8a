import type { Context } from "../frame/command.ts";
import { wrongArguments } from "../frame/failure.ts";
import { askSecretly, isTerminal, readKeyFromStdin } from "../frame/terminal.ts";

/**
 * A secret from --NAME-env or --NAME-stdin, or asked for in a terminal. Arguments are visible to other users of the
 * machine, so no option takes the secret itself.
 */
export async function readSecret(context: Context, name: string, question: string): Promise<string | undefined> {
  const variable = context.text(`${name}-env`);
  if (variable !== undefined) {
    const value = process.env[variable];
    if (!value) throw wrongArguments(`The variable ${variable} is not set.`);
    return value;
  }
  if (context.flag(`${name}-stdin`)) return readKeyFromStdin();
  return isTerminal() ? askSecretly(question) : undefined;
}
