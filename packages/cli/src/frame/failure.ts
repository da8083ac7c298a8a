export const exitCodes = {
  done: 0,
  failed: 1,
  wrongArguments: 2,
  partly: 3,
  needsApproval: 4,
  interrupted: 130,
} as const;

/** Ends the command with one line on stderr and an exit code. */
export class Failure extends Error {
  readonly code: number;

  constructor(message: string, code: number = exitCodes.failed) {
    super(message);
    this.code = code;
  }
}

export const wrongArguments = (message: string): Failure => new Failure(message, exitCodes.wrongArguments);

const noKey = "The API key is missing or invalid. Run gantry login, or set GANTRY_KEY.";

/** The API's own texts are fixed by its specification. */
const noModel = "The model does not exist, or your key may not call it. gantry models list shows your models.";

const noMoney = "Your balance is too low. gantry whoami shows it. Ask an admin for credit, or use a cheaper model.";

/** One line: what happened, and what to do. */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (!isGantryError(error)) return oneLine(error);
  // The server's own message names a header that the user of a command never sees.
  if (error.status === 401) return noKey;
  if (error.message === "Project not found") return noModel;
  if (error.message === "Insufficient funds") return noMoney;
  const advice =
    error.status === 0 && error.type === "connection_error" ? " Is the server running? Check with gantry status." : "";
  // The first part of a location is a part of the request, such as the body.
  const faults = error.issues.map(({ loc, message }) =>
    loc.length > 1 ? `${loc.slice(1).join(".")}: ${message}` : message,
  );
  return `${sentence(faults.length > 0 ? faults.join("; ") : oneLine(error))}${advice}`;
}

interface ErrorOfServer extends Error {
  status: number;
  type: string | undefined;
  issues: readonly { loc: readonly (string | number)[]; message: string }[];
}

/** By name, so that a command which needs no server does not load the SDK. */
export function isGantryError(error: unknown): error is ErrorOfServer {
  return error instanceof Error && error.name === "GantryError";
}

/** Errors of files, by their code. */
const fileProblems: Readonly<Record<string, string>> = {
  EACCES: "cannot be opened: permission denied",
  EISDIR: "is a folder",
  ENOENT: "does not exist",
  ENOSPC: "cannot be written: the disk is full",
  ENOTDIR: "does not exist",
  EPERM: "cannot be changed: permission denied",
  EROFS: "cannot be written: the disk is read-only",
};

const oneLine = (error: Error): string => {
  const { code = "", path } = error as NodeJS.ErrnoException;
  const problem = Object.hasOwn(fileProblems, code) ? fileProblems[code] : undefined;
  if (problem !== undefined && path !== undefined) return `${path} ${problem}.`;
  const text = error instanceof AggregateError ? error.errors.map(describeFailure).join(", ") : error.message;
  return text.replace(/\s*\n\s*/g, " ");
};

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
