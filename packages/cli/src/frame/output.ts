import { once } from "node:events";
import { exitCodes } from "./failure.ts";
import { visible } from "./format.rules.ts";
import { type Column, tableOf } from "./table.rules.ts";
import { columnsOf } from "./terminal.ts";

/** Results go to stdout, everything else to stderr. */
export interface Output {
  readonly isTerminal: boolean;
  line(text: string): void;
  /** Text as it comes, without a line end. Waits while the reader is slow. */
  text(text: string): Promise<void>;
  bytes(chunk: Uint8Array): Promise<void>;
  /** One JSON document. */
  json(value: unknown): void;
  /** One JSON document in a line, for several in a row. */
  jsonLine(value: unknown): void;
  /** Prints `empty` to stderr if the list is empty. */
  table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], empty: string): void;
  /** Names and values; undefined, null and empty values are left out. */
  details(pairs: readonly (readonly [name: string, value: string | number | null | undefined])[]): void;
  /** A sentence for people, to stderr. */
  note(text: string): void;
  /** A line that the next one replaces, only in a terminal. Undefined removes it. */
  progress(text: string | undefined): void;
}

const clearLine = "\r\u001b[2K";

export function createOutput(): Output {
  const { stdout, stderr } = process;
  endQuietlyWhenReaderLeaves();
  const showsProgress = stderr.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
  let shown: string | undefined;

  const progress = (text: string | undefined): void => {
    if (!showsProgress || text === shown) return;
    const width = Math.max(10, (columnsOf(stderr) ?? 80) - 1);
    if (text === undefined) stderr.write(clearLine);
    else stderr.write(`${clearLine}${visible(text).slice(0, width)}`);
    shown = text;
  };
  const print = (to: NodeJS.WriteStream, text: string): void => {
    progress(undefined);
    to.write(`${to.isTTY ? visible(text) : text}\n`);
  };
  const push = async (chunk: string | Uint8Array): Promise<void> => {
    progress(undefined);
    if (!stdout.write(chunk)) await once(stdout, "drain");
  };

  return {
    isTerminal: stdout.isTTY === true,
    line: (text) => print(stdout, text),
    text: (text) => push(stdout.isTTY ? visible(text) : text),
    bytes: push,
    json: (value) => print(stdout, JSON.stringify(value, null, 2)),
    jsonLine: (value) => print(stdout, JSON.stringify(value)),
    table(columns, rows, empty) {
      if (rows.length === 0) return print(stderr, empty);
      for (const line of tableOf(columns, rows, columnsOf(stdout))) print(stdout, line);
    },
    details(pairs) {
      const known = pairs.filter(([, value]) => value !== undefined && value !== null && value !== "");
      const width = Math.max(0, ...known.map(([name]) => name.length));
      for (const [name, value] of known) {
        const [first = "", ...more] = String(value).split("\n");
        print(stdout, `${name.padEnd(width)}  ${first}`);
        for (const line of more) print(stdout, `${" ".repeat(width)}  ${line}`);
      }
    },
    note: (text) => print(stderr, text),
    progress,
  };
}

/** `gantry … | head` is not a failure. */
function endQuietlyWhenReaderLeaves(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") process.exit(exitCodes.done);
      throw error;
    });
  }
}
