import { parseArgs } from "node:util";
import { backup } from "./backup.ts";
import { ledger } from "./ledger.ts";
import { connectProvider } from "./models/connect.ts";
import { importModels } from "./models/import.ts";
import { testProvider } from "./models/test.ts";
import { rekey } from "./rekey.ts";
import { restore } from "./restore.ts";
import { loadServer, orPrintError } from "./server-tools.ts";
import { signIn } from "./sign-in.ts";
import { status } from "./status.ts";

export interface Command {
  /** One word, or two. */
  name: string;
  usage: string;
  meaning: string;
  /** Its exit codes, if there are others than 0 for success and 1 for failure. */
  codes?: string;
  /** Returns the exit code. */
  run(args: readonly string[]): Promise<number>;
}

function serve(args: readonly string[]): Promise<number> {
  return orPrintError(async () => {
    parseArgs({ args: [...args], options: {} });
    await (await loadServer()).serve();
    return new Promise<number>(() => {});
  });
}

export const commands: readonly Command[] = [
  { name: "serve", usage: "serve", meaning: "Run the server, as npm start does.", run: serve },
  {
    name: "status",
    usage: "status [--url URL] [--key KEY]",
    meaning:
      "Show whether a server is up and ready, the owner of the key and, to an admin, the PostgreSQL version " +
      "(also GANTRY_URL, GANTRY_KEY).",
    codes: "0: ready. 1: up, but not ready or the key is wrong. 2: not reachable, or the arguments are wrong.",
    run: status,
  },
  {
    name: "sign-in",
    usage: "sign-in [USERNAME] [--url URL] [--key KEY]",
    meaning: "Print a link that signs you in to the console once. An admin can name another user.",
    codes: "0: printed. 1: the server refused. 2: the arguments are wrong.",
    run: signIn,
  },
  {
    name: "models connect",
    usage:
      "models connect [--type TYPE] [--url URL] [--name NAME] [--key-stdin | --key-env VARIABLE] [--everyone] [--json]",
    meaning:
      "Connect a vendor, or a server that you run, and import its models. Asks in a terminal for what you leave out. " +
      "--url is the address of the provider; Gantry's own is GANTRY_URL or --server. An admin connects for all users " +
      "with --everyone.",
    codes: "0: connected. 1: saved, but the test failed, or the server refused. 2: the arguments are wrong.",
    run: connectProvider,
  },
  {
    name: "models import",
    usage:
      "models import NAME [ID...] [--all] [--price-in DOLLARS] [--price-out DOLLARS] [--price-each DOLLARS] [--everyone] [--json]",
    meaning:
      "Import models of a provider by their ids there, or all. Without ids, update the models imported before. Prices " +
      "are per million tokens, or with --price-each per image, video or run.",
    codes: "0: done. 1: some models failed, or the server refused. 2: the arguments are wrong.",
    run: importModels,
  },
  {
    name: "models test",
    usage: "models test NAME [--model ID] [--everyone] [--json]",
    meaning: "Make one cheap call to a provider and say what is wrong.",
    codes: "0: the provider answered. 1: it did not, or the server refused. 2: the arguments are wrong.",
    run: testProvider,
  },
  {
    name: "backup",
    usage: "backup FILE|FOLDER [--no-files] [--no-keys]",
    meaning: "Write everything to one tar archive, with or without a running server (settings as for serve).",
    codes: "0: complete. 1: no backup was written. 3: written, but some files are missing in the file store.",
    run: backup,
  },
  {
    name: "restore",
    usage: "restore FILE [--replace]",
    meaning: "Fill an empty installation from a backup, on any engines.",
    codes: "0: restored. 1: not restored, or restored with a ledger that is not correct.",
    run: restore,
  },
  {
    name: "ledger",
    usage: "ledger verify [--url URL] [--key KEY]",
    meaning: "Check that the ledger adds up: through a server (an admin's key), or on the configured database.",
    codes: "0: correct. 1: not correct. 2: could not be checked.",
    run: ledger,
  },
  {
    name: "rekey",
    usage: "rekey [--leave-unreadable]",
    meaning:
      "Re-encrypt stored credentials with another key (GANTRY_NEW_SECRET_KEY, or a new one). Stop all servers first.",
    codes: "0: done. 1: failed, or done with steps left for you.",
    run: rekey,
  },
];
