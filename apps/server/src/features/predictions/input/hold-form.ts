import { createHash } from "node:crypto";
import type { Manifest } from "@gantry/wire";
import { checkUser, checkWebhook } from "./check-extras.rules.ts";
import type { Extras } from "./check-fields.rules.ts";
import type { FormBody, FormEntry, FormFile, FormReader, Report } from "./form.ts";
import { maxFileBytes } from "./media.rules.ts";
import { type InputPlan, ownNameOf, planOf } from "./plan-input.rules.ts";
import { dropFile, fieldsOfFiles, withoutLongFile } from "./receive-file.ts";
import { Spool } from "./spool.ts";

interface HoldFormOptions {
  manifest: Manifest;
  form: FormReader;
  extras: Extras;
  spoolDir: string;
  /** Whether it may be one that was accepted before, when the model perhaps took other files than it does now. */
  mayBeRepeat(): Promise<boolean>;
  signal: AbortSignal;
}

/** A form that has arrived and is not looked at yet: a repeat of one that was accepted is neither checked nor fetched. */
export interface HeldForm {
  fingerprint: string;
  /** For `readInput`, as often as it takes. */
  read: FormReader;
  /** Deletes the files, those too that were read from here. */
  dispose(): Promise<void>;
}

interface HeldFile {
  part: FormFile;
  digest: string;
}

const nothing = new Uint8Array();

/** Receives a form whole. When it rejects no file is left. */
export async function holdForm(options: HoldFormOptions): Promise<HeldForm> {
  const spool = new Spool(options.spoolDir);
  try {
    const onFile = holdFiles(planOf(options.manifest), spool, options.mayBeRepeat);
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

function holdFiles(plan: InputPlan, spool: Spool, mayBeRepeat: () => Promise<boolean>) {
  const fieldOf = fieldsOfFiles(plan);
  return async (part: FormFile): Promise<HeldFile> => {
    const hash = createHash("sha256");
    const field = fieldOf(part.name);
    const mostBytes = (await mayBeRepeat()) ? maxFileBytes : undefined;
    if ("kind" in field) {
      const taken = spool.take(part.body, mostBytes ?? field.file.maxBytes, { ownsChunks: true, hash });
      const body = await taken.catch((error) => {
        throw withoutLongFile(error, part.name, field);
      });
      return { part: { ...part, body }, digest: hash.digest("hex") };
    }
    await dropFile(part.body, field, { mostBytes, hash });
    return { part: { ...part, body: nothing }, digest: hash.digest("hex") };
  };
}

function readerOf(body: FormBody<HeldFile>): FormReader {
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

/** A file by the SHA-256 of its bytes. */
interface Digested {
  digest: string;
}

/**
 * The same for the same form, in whatever order its parts came and whatever its files are called. It is made of what was
 * sent alone: what the owner of the model changes, or who serves an address, turns no repeat into another request.
 */
export function fingerprintOf(body: FormBody<Digested>, extras: Extras): string {
  const entries = body.kind === "form" ? body.entries : [];
  const parts = entries.map((entry) => partOf(entry, extras)).filter((part) => part !== undefined);
  const form = [body.kind, ...parts.map(canonical).sort()].join("\n");
  return createHash("sha256").update(form).digest("hex");
}

function partOf(entry: FormEntry<Digested>, extras: Extras): object | undefined {
  if ("file" in entry) return { name: ownNameOf(entry.name), file: entry.file.digest };
  const { name, value } = entry;
  if (name === "user" && extras.user) return extraOf(name, value, checkUser);
  if (name === "webhook" && extras.webhook) return extraOf(name, value, checkWebhook);
  return { name: ownNameOf(name), text: value };
}

/** Counts for what it says; one that says nothing is as if it were not there, and a wrong one stands as it is. */
function extraOf(name: string, text: string, check: (text: string, report: Report) => unknown): object | undefined {
  let isWrong = false;
  const said = check(text, () => {
    isWrong = true;
  });
  if (isWrong) return { name, text };
  return said === undefined ? undefined : { name, said };
}

/** JSON with the keys of every object in one order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  entries.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(",")}}`;
}
