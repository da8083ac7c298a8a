import type { Hash } from "node:crypto";
import type { Media } from "../../../engines/media/media.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { notText, type ReceivedFile, repeatedField, unknownField } from "./check-fields.rules.ts";
import { type CheckedFile, inspectFile, isCheckedFile } from "./checked-file.ts";
import type { FormFile } from "./form.ts";
import { tooLarge } from "./media.rules.ts";
import type { FileField, InputPlan } from "./plan-input.rules.ts";
import { issueOf } from "./problem.ts";
import { LongerThanAllowed, type Spool } from "./spool.ts";

/** What nobody wants is read on for the sake of the other faults, but not for long. */
const maxDroppedBytes = 1_048_576;

interface Receiving {
  plan: InputPlan;
  spool: Spool;
  media: Media;
  userId: string;
  signal: AbortSignal;
}

/**
 * Takes the file parts of one form: spooled under the bound of their field, then looked at. What is wrong with a file is
 * kept beside the faults of the other fields; only what is too long ends the reading at once.
 */
export function receiveFiles({ plan, spool, media, userId, signal }: Receiving) {
  const fieldOf = fieldsOfFiles(plan);
  return async (part: FormFile): Promise<ReceivedFile<CheckedFile>> => {
    const field = fieldOf(part.name);
    if (!("kind" in field)) return dropFile(part.body, field);
    try {
      const spooled = await spool.take(part.body, field.file.maxBytes, { ownsChunks: true });
      const result = await inspectFile({ media, userId, signal }, field, spooled, part.filename);
      return isCheckedFile(result) ? { file: result } : { issue: issueOf(part.name, result) };
    } catch (error) {
      throw withoutLongFile(error, part.name, field);
    }
  };
}

/** The fields of the file parts of one form, asked for one after the other, or why nobody wants such a part. */
export function fieldsOfFiles(plan: InputPlan): (partName: string) => FileField | Issue {
  const taken = new Set<string>();
  return (partName) => {
    const field = plan.byWireName.get(partName);
    if (!field) return unknownField(partName);
    if (field.kind === "text") return notText(partName);
    if (taken.has(field.name)) return repeatedField(partName);
    taken.add(field.name);
    return field;
  };
}

/** The error as the client is told it. */
export function withoutLongFile(error: unknown, partName: string, { file }: FileField): unknown {
  return error instanceof LongerThanAllowed ? new Fault([issueOf(partName, tooLarge(file))]) : error;
}

export async function dropFile(
  body: FormFile["body"],
  issue: Issue,
  { mostBytes = maxDroppedBytes, hash }: { mostBytes?: number | undefined; hash?: Hash } = {},
): Promise<{ issue: Issue }> {
  if (body instanceof Uint8Array) hash?.update(body);
  if (body instanceof Uint8Array || "source" in body) return { issue };
  let left = mostBytes;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Fault([issue]);
    hash?.update(chunk);
  }
  return { issue };
}
