import type { Readable } from "node:stream";
import type { Manifest } from "@gantry/wire";
import type { Media } from "../../../engines/media/media.ts";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { Net } from "../../../engines/net/net.ts";
import { fault, type Loc, throwIfAny } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { UserPart, WebhookPart } from "./check-extras.rules.ts";
import { type CheckedFields, checkFields, type Extras, missingFields, promptIssues } from "./check-fields.rules.ts";
import { fetchFile, isRemote, type OpenStored } from "./fetch-file.ts";
import { type FormReader, issueOf } from "./form.ts";
import { planOf } from "./plan-input.rules.ts";
import { type CheckedFile, isCheckedFile, receiveFiles } from "./receive-file.ts";
import { Spool } from "./spool.ts";

export interface InputSources {
  /** A local directory for files in transit, created if it is missing. */
  spoolDir: string;
  net: Net;
  media: Media;
}

export interface ReadInputOptions extends InputSources {
  manifest: Manifest;
  form: FormReader;
  extras: Extras;
  openStored: OpenStored;
  userId: string;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
}

export interface InputRequest {
  caller: Caller;
  model: Model;
  extras: Extras;
  readForm: FormReader;
  signal: AbortSignal;
  /** If set, stored files are refused with this text. */
  storedRefusal?: string | undefined;
}

export interface InputDeps extends InputSources {
  /** A stored file of the caller; undefined if it does not exist. */
  openStored(
    caller: Caller,
    s3Path: string,
    loc: Loc,
  ): Promise<{ size: number; filename: string; open(): Promise<Readable> } | undefined>;
}

export function readModelInput({ spoolDir, net, media, openStored }: InputDeps, request: InputRequest) {
  const { caller, model, extras, readForm, signal, storedRefusal } = request;
  return readInput({
    manifest: model.manifest,
    form: readForm,
    extras,
    spoolDir,
    net,
    media,
    userId: caller.userId,
    signal,
    openStored: async (s3Path, loc) => {
      if (storedRefusal !== undefined) throw fault("forbidden", storedRefusal, { loc });
      const file = await openStored(caller, s3Path, loc);
      return file && { stream: await file.open(), size: file.size, filename: file.filename };
    },
  });
}

export interface CheckedInput {
  /** Defaults are filled in. A field that is null and has no default is absent. */
  input: Readonly<Record<string, InputValue>>;
  files: readonly CheckedFile[];
  user: UserPart | undefined;
  webhook: WebhookPart | undefined;
  /** Deletes the files. Must be called when the prediction no longer needs them; may be called again. */
  dispose(): Promise<void>;
}

export type ReadModelInput = (request: InputRequest) => Promise<CheckedInput>;

/**
 * Turns the body of a request into checked input. Rejects with one fault that has all issues. Addresses are fetched last,
 * and only if everything else is valid. After a rejection no file is left.
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
  // Waits for all, so that none writes after the spool is disposed of.
  for (const [i, result] of results.entries()) {
    const from = wanted[i];
    if (result.status === "rejected") throw result.reason;
    if (!from) continue;
    if (isCheckedFile(result.value)) checked.files.push({ field: from.field, file: result.value });
    else checked.issues.push(issueOf(from.sentAs, result.value, from.address));
  }
}
