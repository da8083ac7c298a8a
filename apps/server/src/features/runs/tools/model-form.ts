import { posix } from "node:path";
import type { Manifest } from "@gantry/wire";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import type { Drives } from "../../drives/index.ts";
import { type FormReader, formOfValues, type OpenValue } from "../../predictions/index.ts";
import { driveAddress, findPath } from "./drive-tools.ts";
import type { RunScope } from "./run-tool.ts";
import { explainIssue } from "./tool-failure.ts";

export interface ModelForm {
  read: FormReader;
  /** The fault of reading, with the reason why a file of a drive could not be read. */
  correct(failure: Fault): Fault;
}

/** The input that a model wrote for another model, as a form: files of the agent's drives become file parts. */
export function modelForm(
  { drives }: { drives: Pick<Drives, "readFile"> },
  scope: RunScope,
  manifest: Manifest,
  input: Readonly<Record<string, unknown>>,
): ModelForm {
  const reasons = new Map<string, string>();

  /** Undefined if the file cannot be read: then the reader reports it together with other issues. */
  const openDriveFile: OpenValue = async (name, value) => {
    const address = typeof value === "string" ? driveAddress(value) : undefined;
    if (!address) return undefined;
    try {
      const at = findPath(scope, address.driveId, address.path);
      if ("refusal" in at) return void reasons.set(name, at.refusal);
      const { file, body } = await drives.readFile(scope.ownerId, at.driveId, at.path);
      if (!body) return void reasons.set(name, "The file is empty");
      return { name, filename: posix.basename(file.path), contentType: file.contentType, body };
    } catch (error) {
      if (!(error instanceof Fault) || error.status >= 500) throw error;
      return void reasons.set(name, error.issues.map(explainIssue).join("; "));
    }
  };

  const corrected = (issue: Issue): Issue => {
    const reason = issue.type === "file_download_error" ? reasons.get(String(issue.loc[1])) : undefined;
    return reason === undefined ? issue : { ...issue, msg: `The file could not be read from the drive. ${reason}` };
  };

  return {
    read: formOfValues(manifest, input, openDriveFile),
    correct: ({ issues: [first, ...rest] }) => new Fault([corrected(first), ...rest.map(corrected)]),
  };
}
