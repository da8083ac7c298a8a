import { backup } from "./backup.ts";
import { ledger } from "./ledger.ts";
import { rekey } from "./rekey.ts";
import { restore } from "./restore.ts";
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
  {
    name: "backup",
    usage: "backup FILE|FOLDER [--no-files] [--no-keys]",
    meaning: "Writes everything into one tar archive, while the server runs or not (settings as for serve).",
    run: backup,
  },
  {
    name: "restore",
    usage: "restore FILE [--replace]",
    meaning: "Fills an empty installation from a backup, whatever engines its settings name.",
    run: restore,
  },
  {
    name: "ledger",
    usage: "ledger verify [--url URL] [--key KEY]",
    meaning: "Proves that the books add up: through a server (an admin's key), else on the database of the settings.",
    run: ledger,
  },
  {
    name: "rekey",
    usage: "rekey [--leave-unreadable]",
    meaning:
      "Seals stored credentials anew under another key (GANTRY_NEW_SECRET_KEY, else a new one); no server may run.",
    run: rekey,
  },
];
