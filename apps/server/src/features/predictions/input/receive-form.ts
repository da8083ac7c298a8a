import { createHash } from "node:crypto";
import type { Manifest } from "@gantry/wire";
import { checkUser, checkWebhook } from "./check-extras.rules.ts";
import type { Extras } from "./check-fields.rules.ts";
import { ListBytes } from "./file-lists.rules.ts";
import type { FormBody, FormEntry, FormFile, FormReader, Report } from "./form.ts";
import { maxFileBytes } from "./media.rules.ts";
import { type InputPlan, ownNameOf, planOf } from "./plan-input.rules.ts";
import { dropFile, fieldsOfFiles, withoutLongFile } from "./receive-file.ts";
import { Spool } from "./spool.ts";

interface ReceiveFormOptions {
  manifest: Pick<Manifest, "input">;
  form: FormReader;
  extras: Extras;
  spoolDir: string;
  /** Whether the request may repeat one that was accepted when the model took other files. */
  mayBeRepeat(): Promise<boolean>;
  signal: AbortSignal;
}

/** A form that was received but not checked: a repeat of an accepted request is not checked again. */
export interface ReceivedForm {
  fingerprint: string;
  /** For `readInput`; may be read several times. */
  read: FormReader;
  /** Deletes the files, including those read from here. */
  dispose(): Promise<void>;
}

interface DigestedFile {
  part: FormFile;
  digest: string;
}

const nothing = new Uint8Array();

/** After a rejection no file is left. */
export async function receiveForm(options: ReceiveFormOptions): Promise<ReceivedForm> {
  const spool = new Spool(options.spoolDir);
  try {
    const onFile = receiveFormFiles(planOf(options.manifest), spool, options.mayBeRepeat);
    const body = await options.form({ onFile, signal: options.signal });
    return {
      fingerprint: fingerprintOf(body, options.extras),
      read: readerOf(body),
      dispose: () => spool.dispose(),
    };
  } catch (error) {
    await spool.dispose();
    throw error;
  }
}

function receiveFormFiles(plan: InputPlan, spool: Spool, mayBeRepeat: () => Promise<boolean>) {
  const fieldOf = fieldsOfFiles(plan);
  const listBytes = new ListBytes();
  return async (part: FormFile): Promise<DigestedFile> => {
    const hash = createHash("sha256");
    const field = fieldOf(part.name);
    const mostBytes = (await mayBeRepeat()) ? maxFileBytes : undefined;
    if ("kind" in field) {
      const taken = spool.take(part.body, listBytes.most(field, mostBytes), { ownsChunks: true, hash });
      const body = await taken.catch((error) => {
        throw withoutLongFile(error, part.name, field, listBytes);
      });
      listBytes.take(field, body.size);
      return { part: { ...part, body }, digest: hash.digest("hex") };
    }
    await dropFile(part.body, field, { mostBytes, hash });
    return { part: { ...part, body: nothing }, digest: hash.digest("hex") };
  };
}

function readerOf(body: FormBody<DigestedFile>): FormReader {
  return async <T>({ onFile, signal }: { onFile(file: FormFile): Promise<T>; signal: AbortSignal }) => {
    if (body.kind === "not-multipart") return body;
    const entries: FormEntry<T>[] = [];
    for (const entry of body.entries) {
      signal.throwIfAborted();
      if ("value" in entry) entries.push(entry);
      else entries.push({ ...entry, file: await onFile(entry.file.part) });
    }
    return { kind: "form", entries };
  };
}

interface Digested {
  digest: string;
}

/**
 * A hash of the form as sent, independent of the order of parts and the names of files. Changes of the model, or of the
 * content behind an address, do not turn a repeat into another request.
 */
export function fingerprintOf(body: FormBody<Digested>, extras: Extras): string {
  const entries = body.kind === "form" ? body.entries : [];
  const parts = inOrder(entries, extras).filter((part) => part !== undefined);
  const form = [body.kind, ...parts.map(canonical).sort()].join("\n");
  return createHash("sha256").update(form).digest("hex");
}

/** The entries of a list have an order. The first has no number, as in fingerprints that are stored for a day. */
function inOrder(entries: readonly FormEntry<Digested>[], extras: Extras): (object | undefined)[] {
  const counts = new Map<string, number>();
  return entries.map((entry) => {
    const name = ownNameOf(entry.name);
    const at = counts.get(name) ?? 0;
    counts.set(name, at + 1);
    const part = partOf(entry, extras);
    return part && at > 0 ? { ...part, at } : part;
  });
}

function partOf(entry: FormEntry<Digested>, extras: Extras): object | undefined {
  if ("file" in entry) return { name: ownNameOf(entry.name), file: entry.file.digest };
  const { name, value } = entry;
  if (name === "user" && extras.user) return extraOf(name, value, checkUser);
  if (name === "webhook" && extras.webhook) return extraOf(name, value, checkWebhook);
  return { name: ownNameOf(name), text: value };
}

/** Compared by its parsed value. An empty part is ignored, and an invalid one is compared as text. */
function extraOf(name: string, text: string, check: (text: string, report: Report) => unknown): object | undefined {
  let isWrong = false;
  const parsed = check(text, () => {
    isWrong = true;
  });
  if (isWrong) return { name, text };
  // `said` is part of fingerprints that are stored for a day.
  return parsed === undefined ? undefined : { name, said: parsed };
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
}
