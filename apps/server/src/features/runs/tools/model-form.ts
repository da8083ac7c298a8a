import { posix } from "node:path";
import type { FieldSchema, Manifest } from "@gantry/wire";
import { Fault, fault, type Issue, throwIfAny } from "../../../kernel/errors.ts";
import type { Drives } from "../../drives/index.ts";
import type { FormReader } from "../../predictions/index.ts";
import { driveAddress, driveOf } from "./agent-drive.ts";
import type { RunScope } from "./run-tool.ts";
import { explainIssue } from "./tool-failure.ts";

/** As for a form of an HTTP request. */
const mostFields = 32;
const mostTextBytes = 1_048_576;

export interface ModelForm {
  read: FormReader;
  /** The faults of reading, with the true reason where a file of a drive could not be had. */
  correct(failure: Fault): Fault;
}

/**
 * The object that a model gives as the input of another one, as the form that the one checked reader reads: values as
 * their texts, files of the agent's drives as file parts, every other address as it stands.
 */
export function modelForm(
  { drives }: { drives: Pick<Drives, "readFile"> },
  scope: RunScope,
  manifest: Manifest,
  input: Readonly<Record<string, unknown>>,
): ModelForm {
  const reasons = new Map<string, string>();

  /** Undefined where there is none: the address then goes on as a text, so that it is told beside the other faults. */
  async function openDriveFile(name: string, value: unknown) {
    const address = typeof value === "string" ? driveAddress(value) : undefined;
    if (!address) return undefined;
    const drive = driveOf(scope, address.driveId);
    if ("refusal" in drive) return void reasons.set(name, drive.refusal);
    try {
      const { file, body } = await drives.readFile(scope.ownerId, drive.driveId, address.path);
      return body && { name, filename: posix.basename(file.path), contentType: file.contentType, body };
    } catch (error) {
      if (!(error instanceof Fault) || error.status >= 500) throw error;
      return void reasons.set(name, error.issues.map(explainIssue).join("; "));
    }
  }

  const read: FormReader = async ({ onFile, signal }) => {
    type Entry = Awaited<ReturnType<typeof onFile>>;
    const entries: ({ name: string; value: string } | { name: string; file: Entry; filename: string | undefined })[] =
      [];
    const issues: Issue[] = [];
    const given = Object.entries(input);
    if (given.length > mostFields) {
      const ctx = { max_fields: mostFields };
      throw fault("too_many_fields", `The input has more than ${mostFields} fields`, { ctx });
    }
    for (const [name, value] of given) {
      signal.throwIfAborted();
      const field = fieldOf(manifest, name);
      const file = field?.format === "binary" ? await openDriveFile(name, value) : undefined;
      if (file) {
        try {
          entries.push({ name, file: await onFile(file), filename: file.filename });
        } finally {
          file.body.destroy();
        }
        continue;
      }
      const text = textOf(value, field);
      if (typeof text === "string") entries.push({ name, value: text });
      else if (text) issues.push({ ...text, loc: ["body", name] });
    }
    throwIfAny(issues);
    return { kind: "form", entries };
  };

  const corrected = (issue: Issue): Issue => {
    const reason = issue.type === "file_download_error" ? reasons.get(String(issue.loc[1])) : undefined;
    return reason === undefined ? issue : { ...issue, msg: `The file could not be read from the drive. ${reason}` };
  };

  return {
    read,
    correct: ({ issues: [first, ...rest] }) => new Fault([corrected(first), ...rest.map(corrected)]),
  };
}

function fieldOf({ input: { properties } }: Manifest, name: string): FieldSchema | undefined {
  const known = [name, name.replace(/^i_/, "")].find((each) => Object.hasOwn(properties, each));
  return known === undefined ? undefined : properties[known];
}

/** Undefined for a value that is left out, which null stands for where it is none of the field's values. */
function textOf(value: unknown, field: FieldSchema | undefined): string | Omit<Issue, "loc"> | undefined {
  if (value === undefined) return undefined;
  if (value === null) return [field?.type].flat().includes("null") ? "null" : undefined;
  const text = typeof value === "object" ? jsonOf(value) : String(value).toWellFormed();
  if (text === undefined) return { type: "json_invalid", msg: "Input is nested too deeply" };
  if (field?.format === "binary" || Buffer.byteLength(text) <= mostTextBytes) return text;
  const ctx = { max_length: mostTextBytes };
  return { type: "string_too_long", msg: `The field is longer than ${mostTextBytes} bytes`, ctx };
}

function jsonOf(value: object): string | undefined {
  try {
    // A form could not carry half a character; JSON writes it as an escape.
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
