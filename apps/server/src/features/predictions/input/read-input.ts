import type { Readable } from "node:stream";
import type { Manifest } from "@gantry/wire";
import type { Media } from "../../../engines/media/media.ts";
import type { InputValue } from "../../../engines/models/driver.ts";
import type { Net } from "../../../engines/net/net.ts";
import { fault, type Loc, throwIfAny } from "../../../kernel/errors.ts";
import type { Caller } from "../../accounts/index.ts";
import type { Model } from "../../models/index.ts";
import type { UserPart, WebhookPart } from "./check-extras.rules.ts";
import { checkFields, type Extras, missingFields, promptIssues } from "./check-fields.rules.ts";
import type { CheckedFields } from "./checked-fields.ts";
import { fetchFile, isRemote, type OpenStored } from "./fetch-file.ts";
import { ListBytes } from "./file-lists.rules.ts";
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
  /** Whether files are described with the input that is kept. */
  hashes: boolean;
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
  /** Whether this server keeps inputs with results. */
  keepsInputs: boolean;
  /** A stored file of the caller; undefined if it does not exist. */
  openStored(
    caller: Caller,
    s3Path: string,
    loc: Loc,
  ): Promise<{ size: number; filename: string; open(): Promise<Readable> } | undefined>;
}

export function readModelInput({ spoolDir, net, media, openStored, keepsInputs }: InputDeps, request: InputRequest) {
  const { caller, model, extras, readForm, signal, storedRefusal } = request;
  return readInput({
    manifest: model.manifest,
    form: readForm,
    extras,
    spoolDir,
    net,
    media,
    userId: caller.userId,
    hashes: keepsInputs && caller.keepsInputs && model.manifest.keep_inputs !== false,
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
  const { manifest, form, extras, spoolDir, media, userId, signal, hashes } = options;
  const plan = planOf(manifest);
  const spool = new Spool(spoolDir);
  try {
    const listBytes = new ListBytes();
    const body = await form({
      onFile: receiveFiles({ plan, spool, media, userId, signal, listBytes, hashes }),
      signal,
    });
    if (body.kind === "not-multipart") throwIfAny(missingFields(plan, body.ctx));
    const checked = checkFields(plan, body.kind === "form" ? body.entries : [], extras);
    checked.issues.push(...promptIssues(manifest, checked));
    if (checked.addresses.length > 0) {
      const fetching = { ...options, spool, listBytes };
      await fetchAddresses(fetching, checked, (address) => !isRemote(address));
      throwIfAny(checked.issues);
      await fetchAddresses(fetching, checked, isRemote);
    }
    throwIfAny(checked.issues);
    signal.throwIfAborted();
    const { user, webhook } = checked;
    return { input: inputOf(checked), files: filesOf(checked), user, webhook, dispose: () => spool.dispose() };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

function inputOf({ values: input, files, lists }: CheckedFields<CheckedFile>): Record<string, InputValue> {
  for (const { field, file } of files) if (!field.list) input[field.name] = file;
  for (const list of lists) {
    const entries = files.filter(({ field }) => field === list).toSorted((one, other) => one.index - other.index);
    input[list.name] = entries.map(({ file }) => file);
  }
  return input;
}

function filesOf({ files }: CheckedFields<CheckedFile>): CheckedFile[] {
  return files.map(({ field, file, index }) => (field.list ? { ...file, index } : file));
}

type FetchingInput = ReadInputOptions & { spool: Spool; listBytes: ListBytes };
type Address = CheckedFields<CheckedFile>["addresses"][number];

async function fetchAddresses(
  fetching: FetchingInput,
  checked: CheckedFields<CheckedFile>,
  isWanted: (address: string) => boolean,
): Promise<void> {
  const wanted = checked.addresses.filter(({ address }) => isWanted(address));
  // The files of a list are fetched one after the other, because they share a bound.
  const byField = Object.values(Object.groupBy(wanted, ({ field }) => field.name));
  const results = await Promise.allSettled(byField.map((from = []) => fetchField(fetching, from)));
  // Waits for all, so that none writes after the spool is disposed of.
  for (const result of results) {
    if (result.status === "rejected") throw result.reason;
    checked.files.push(...result.value.files);
    checked.issues.push(...result.value.issues);
  }
}

async function fetchField(fetching: FetchingInput, addresses: readonly Address[]) {
  const { listBytes } = fetching;
  const files: CheckedFields<CheckedFile>["files"] = [];
  for (const from of addresses) {
    const { field, index, sentAs, address } = from;
    const bounded = { name: field.name, file: { ...field.file, maxBytes: listBytes.most(field) } };
    const result = await fetchFile(fetching, bounded, from);
    if (!isCheckedFile(result)) {
      const problem = result.type === "file_too_large" ? listBytes.tooLarge(field) : result;
      const issue = issueOf(sentAs, field.list ? { ...problem, path: [index] } : problem, address);
      // Further downloads would be wasted.
      return { files, issues: [issue] };
    }
    listBytes.take(field, result.size);
    files.push({ field, file: result, index });
  }
  return { files, issues: [] };
}
