import { backup } from "./backup.ts";
import { ledger } from "./ledger.ts";
import { rekey } from "./rekey.ts";
import { restore } from "./restore.ts";
import { serve } from "./serve.ts";
import { signIn } from "./sign-in.ts";
import { status } from "./status.ts";

export interface Command {
  name: string;
  usage: string;
  meaning: string;
  /** What its exit code says, where that is more than 0 for done and 1 for not. */
  codes?: string;
  /** Answers the exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** One row a command. */
export const commands: readonly Command[] = [
  { name: "serve", usage: "serve", meaning: "Starts the server, as npm start does.", run: serve },
  {
    name: "status",
    usage: "status [--url URL] [--key KEY]",
    meaning:
      "Shows whether a server is up and ready, who the key belongs to and, for an admin, the version of PostgreSQL " +
      "(also GANTRY_URL, GANTRY_KEY).",
    codes: "0: ready. 1: up, but not ready or the key is wrong. 2: not reachable, or the arguments are wrong.",
    run: status,
  },
  {
    name: "sign-in",
    usage: "sign-in [USERNAME] [--url URL] [--key KEY]",
    meaning: "Prints a link that signs the key's user in to the console, once; for an admin also another user.",
    codes: "0: printed. 1: the server made none. 2: the arguments are wrong.",
    run: signIn,
  },
  {
    name: "backup",
    usage: "backup FILE|FOLDER [--no-files] [--no-keys]",
    meaning: "Writes everything into one tar archive, while the server runs or not (settings as for serve).",
    codes: "0: all is in it. 1: none was made. 3: it was made, and files are missing that there should be.",
    run: backup,
  },
  {
    name: "restore",
    usage: "restore FILE [--replace]",
    meaning: "Fills an empty installation from a backup, whatever engines its settings name.",
    codes: "0: restored. 1: nothing was, or everything was and the books in the backup are wrong.",
    run: restore,
  },
  {
    name: "ledger",
    usage: "ledger verify [--url URL] [--key KEY]",
    meaning: "Proves that the books add up: through a server (an admin's key), else on the database of the settings.",
    codes: "0: the books are right. 1: they are not. 2: they could not be looked at, which says nothing of them.",
    run: ledger,
  },
  {
    name: "rekey",
    usage: "rekey [--leave-unreadable]",
    meaning:
      "Seals stored credentials anew under another key (GANTRY_NEW_SECRET_KEY, else a new one); no server may run.",
    codes: "0: done. 1: not, or the key was changed and something is left to be done.",
    run: rekey,
  },
];
