import { serve } from "./serve.ts";
import { status } from "./status.ts";

export interface Command {
  name: string;
  usage: string;
  meaning: string;
  /** Answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** One row a command. */
export const commands: readonly Command[] = [
  { name: "serve", usage: "serve", meaning: "Starts the server, as npm start does.", run: serve },
  {
    name: "status",
    usage: "status [--url URL] [--key KEY]",
    meaning: "Says whether a server is up and ready, and who the key belongs to (also GANTRY_URL, GANTRY_KEY).",
    run: status,
  },
];
