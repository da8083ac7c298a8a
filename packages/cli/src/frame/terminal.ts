import { createInterface } from "node:readline/promises";
import { exitCodes, Failure, wrongArguments } from "./failure.ts";

/** Questions go to stderr, so that stdout holds only the results. */
export const isTerminal = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/** A pseudo terminal may have no size: then its columns are 0. */
export const columnsOf = ({ columns }: { columns?: number }): number | undefined => columns || undefined;

export async function ask(question: string, otherwise = ""): Promise<string> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  // Without an answer, as after Ctrl+D, the promise would never settle.
  const closed = new Promise<never>((_, reject) => lines.once("close", () => reject(stopped())));
  try {
    const answer = await Promise.race([
      lines.question(`${question}${otherwise === "" ? "" : ` [${otherwise}]`}: `),
      closed,
    ]);
    return answer.trim() || otherwise;
  } finally {
    closed.catch(() => undefined);
    lines.close();
  }
}

const controls = { interrupt: "\u0003", end: "\u0004", erase: ["\u007f", "\b"], enter: ["\r", "\n"] };

/** Reads a line without showing it. */
export async function askSecretly(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Before the question: the terminal would show what is typed at once.
  stdin.setRawMode(true);
  stderr.write(`${question}: `);
  stdin.setEncoding("utf8");
  stdin.resume();
  let typed = "";
  try {
    return await new Promise<string>((resolve, reject) => {
      const read = (chunk: string) => {
        for (const character of chunk) {
          if (character === controls.interrupt || character === controls.end) return done(() => reject(stopped()));
          if (controls.enter.includes(character)) return done(() => resolve(typed.trim()));
          typed = controls.erase.includes(character) ? typed.slice(0, -1) : typed + character;
        }
      };
      const done = (then: () => void) => {
        stdin.off("data", read);
        then();
      };
      stdin.on("data", read);
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write("\n");
  }
}

const stopped = () => new Failure("Stopped.", exitCodes.interrupted);

const mostKeyBytes = 64 * 1024;

/** A key on stdin, without the line end of `echo`. */
export const readKeyFromStdin = (): Promise<string> => readStdin(mostKeyBytes, "The key on stdin is too long.");

/** All of stdin, without white space around it. */
export async function readStdin(mostBytes: number, tooLong: string): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > mostBytes) throw wrongArguments(tooLong);
  }
  return Buffer.concat(chunks).toString("utf8").trim();
}
