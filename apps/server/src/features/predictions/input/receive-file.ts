import type { Readable } from "node:stream";
import type { Media } from "../../../engines/media/media.ts";
import { Fault, type Issue } from "../../../kernel/errors.ts";
import { notText, type ReceivedFile, repeatedField, unknownField } from "./check-fields.rules.ts";
import { type CheckedFile, inspectFile, isCheckedFile } from "./checked-file.ts";
import type { FormFile } from "./form.ts";
import { tooLarge } from "./media.rules.ts";
import type { InputPlan } from "./plan-input.rules.ts";
import { issueOf } from "./problem.ts";
import { LongerThanAllowed, type Spool } from "./spool.ts";

/** What nobody wants is read on for the sake of the other faults, but not for long. */
const maxDroppedBytes = 1_048_576;

interface Receiving {
  plan: InputPlan;
  spool: Spool;
  media: Media;
  signal: AbortSignal;
}

/**
 * Takes the file parts of one form: spooled under the bound of their field, then looked at. What is wrong with a file is
 * kept beside the faults of the other fields; only what is too long ends the reading at once.
 */
export function receiveFiles({ plan, spool, media, signal }: Receiving) {
  const taken = new Set<string>();
  return async (part: FormFile): Promise<ReceivedFile<CheckedFile>> => {
    const field = plan.byWireName.get(part.name);
    if (!field) return drop(part.body, unknownField(part.name));
    if (field.kind === "text") return drop(part.body, notText(part.name));
    if (taken.has(field.name)) return drop(part.body, repeatedField(part.name));
    taken.add(field.name);
    try {
      const spooled = await spool.take(part.body, field.file.maxBytes, { ownsChunks: true });
      const result = await inspectFile({ media, signal }, field, spooled, part.filename);
      return isCheckedFile(result) ? { file: result } : { issue: issueOf(part.name, result) };
    } catch (error) {
      if (!(error instanceof LongerThanAllowed)) throw error;
      throw new Fault([issueOf(part.name, tooLarge(field.file))]);
    }
  };
}

async function drop(body: Uint8Array | Readable, issue: Issue): Promise<{ issue: Issue }> {
  if (body instanceof Uint8Array) return { issue };
  let left = maxDroppedBytes;
  for await (const chunk of body) {
    left -= chunk.length;
    if (left < 0) throw new Fault([issue]);
  }
  return { issue };
}
