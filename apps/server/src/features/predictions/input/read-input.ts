import type { Manifest } from "@gantry/wire";
import type { Media } from "../../../engines/media/media.ts";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { Net } from "../../../engines/net/net.ts";
import { throwIfAny } from "../../../kernel/errors.ts";
import type { UserPart, WebhookPart } from "./check-extras.rules.ts";
import { type CheckedFields, checkFields, type Extras, missingFields, promptIssues } from "./check-fields.rules.ts";
import { fetchFile, isRemote, type OpenStored } from "./fetch-file.ts";
import { type FormReader, issueOf } from "./form.ts";
import { planOf } from "./plan-input.rules.ts";
import { type CheckedFile, isCheckedFile, receiveFiles } from "./receive-file.ts";
import { Spool } from "./spool.ts";

export interface InputSources {
  /** A directory of this machine for files on their way; made when it is missing. */
  spoolDir: string;
  net: Net;
  media: Media;
}

export interface ReadInputOptions extends InputSources {
  manifest: Manifest;
  form: FormReader;
  extras: Extras;
  openStored: OpenStored;
  /** Whose input it is. */
  userId: string;
  /** Aborted when the client leaves. */
  signal: AbortSignal;
}

export interface CheckedInput {
  /** With defaults; a field that is null and has no default is absent. */
  input: Readonly<Record<string, InputValue>>;
  /** The files among them. */
  files: readonly CheckedFile[];
  user: UserPart | undefined;
  webhook: WebhookPart | undefined;
  /** Deletes the files. To be called once the run no longer needs them, however it ended; again is no error. */
  dispose(): Promise<void>;
}

/**
 * From the body of a request to input that a model may be run with. Rejects with one fault that holds everything that is
 * wrong. Addresses are fetched last, and only if all the rest is right: a request that fails anyway causes no call.
 * When it rejects, for whatever reason, no file is left.
 */
export async function readInput(options: ReadInputOptions): Promise<CheckedInput> {
  const { manifest, form, extras, spoolDir, media, userId, signal } = options;
  const plan = planOf(manifest);
  const spool = new Spool(spoolDir);
  try {
    const body = await form({ onFile: receiveFiles({ plan, spool, media, userId, signal }), signal });
    if (body.kind === "not-multipart") throwIfAny(missingFields(plan, body.ctx));
    const checked = checkFields(plan, body.kind === "form" ? body.entries : [], extras);
    checked.issues.push(...promptIssues(manifest, checked));
    if (checked.addresses.length > 0) {
      await fetchAddresses(options, spool, checked, (address) => !isRemote(address));
      throwIfAny(checked.issues);
      await fetchAddresses(options, spool, checked, isRemote);
    }
    throwIfAny(checked.issues);
    signal.throwIfAborted();
    const input = checked.values;
    for (const { field, file } of checked.files) input[field.name] = file;
    const files = checked.files.map(({ file }) => file);
    const { user, webhook } = checked;
    return { input, files, user, webhook, dispose: () => spool.dispose() };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

async function fetchAddresses(
  options: ReadInputOptions,
  spool: Spool,
  checked: CheckedFields<CheckedFile>,
  isWanted: (address: string) => boolean,
): Promise<void> {
  const wanted = checked.addresses.filter(({ address }) => isWanted(address));
  const results = await Promise.allSettled(wanted.map((from) => fetchFile({ ...options, spool }, from.field, from)));
  // Only when all have ended is it certain that none writes any more.
  for (const [i, result] of results.entries()) {
    const from = wanted[i];
    if (result.status === "rejected") throw result.reason;
    if (!from) continue;
    if (isCheckedFile(result.value)) checked.files.push({ field: from.field, file: result.value });
    else checked.issues.push(issueOf(from.sentAs, result.value, from.address));
  }
}
