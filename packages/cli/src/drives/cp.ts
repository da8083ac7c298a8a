import type { Drives, GantryClient } from "@gantry/sdk";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes, wrongArguments } from "../frame/failure.ts";
import { count, sizeOf } from "../frame/format.rules.ts";
import { type Copied, type Copy, copyAll, type Refused } from "./copies.ts";
import { findDrive } from "./find-drive.ts";
import { type Place, placeOf } from "./places.rules.ts";
import { type CopyOptions, downloads, isInto, isIntoFolder, transfers, uploads } from "./plan-copies.ts";

export async function copy(context: Context): Promise<number> {
  const { out, signal } = context;
  const places = context.words.map(typedPlace);
  const target = places.at(-1) as Place;
  const sources = places.slice(0, -1);
  if (places.every(({ kind }) => kind === "local")) {
    throw wrongArguments("No place is on a drive. Write it as DRIVE:PATH, such as handbook:/docs/.");
  }
  const client = await context.client();
  const options: CopyOptions = { recursive: context.flag("recursive"), replace: !context.flag("no-clobber"), signal };
  const copies = await planAll(client, sources, target, options);
  const result = await copyAll(copies, signal, (so) => out.progress(progressText(so)));
  out.progress(undefined);
  return report(context, result);
}

function typedPlace(text: string): Place {
  try {
    return placeOf(text);
  } catch (error) {
    throw wrongArguments((error as Error).message);
  }
}

/** Finds the drives first: a wrong name stops everything. */
async function planAll(
  client: GantryClient,
  sources: readonly Place[],
  target: Place,
  options: CopyOptions,
): Promise<AsyncGenerator<Copy | Refused>> {
  const { drives } = client;
  const ids = new Map<string, string>();
  for (const place of [...sources, target]) {
    if (place.kind === "drive" && !ids.has(place.drive))
      ids.set(place.drive, (await findDrive(client, place.drive)).id);
  }
  const idOf = (drive: string): string => ids.get(drive) ?? "";
  if (target.kind === "drive") {
    const at = { id: idOf(target.drive), path: target.path, isDirectory: target.isDirectory };
    const to = { ...at, into: await isInto(drives, at, sources.length, options.signal) };
    return each(sources, options.signal, (source) =>
      source.kind === "local"
        ? uploads(drives, source.path, to, options)
        : transfers(drives, { id: idOf(source.drive), path: source.path }, to, options),
    );
  }
  const to = { path: target.path, into: await isIntoFolder(target.path, sources.length) };
  return each(sources, options.signal, (source) =>
    source.kind === "local" ? notCopied(source.path) : fromDrive(drives, idOf(source.drive), source.path, to, options),
  );
}

const fromDrive = (
  drives: Drives,
  id: string,
  path: string,
  to: { path: string; into: boolean },
  options: CopyOptions,
) => downloads(drives, { id, path }, to, options);

async function* notCopied(label: string): AsyncGenerator<Refused> {
  yield { label, error: new Error(`${label} and the target are both on this machine.`) };
}

/** A source that is missing does not stop the others. */
async function* each(
  sources: readonly Place[],
  signal: AbortSignal,
  plan: (source: Place) => AsyncGenerator<Copy | Refused>,
): AsyncGenerator<Copy | Refused> {
  for (const source of sources) {
    try {
      yield* plan(source);
    } catch (error) {
      signal.throwIfAborted();
      yield { label: source.kind === "local" ? source.path : `${source.drive}:${source.path}`, error };
    }
  }
}

const progressText = ({ copied, bytes }: Copied): string => `Copied ${count(copied)} files, ${sizeOf(bytes)}`;

function report(context: Context, { copied, skipped, bytes, failed }: Copied): number {
  const { out } = context;
  const problems = failed.map(({ label, error }) => ({ file: label, message: describeFailure(error) }));
  if (context.flag("json")) out.json({ copied, skipped, bytes, failed: problems });
  for (const { file, message } of problems) {
    out.note(message.includes(file) ? message : `${file}: ${message}`);
  }
  const left = skipped > 0 ? `, ${count(skipped)} left alone` : "";
  const not = failed.length > 0 ? `, ${count(failed.length)} failed` : "";
  out.note(`Copied ${count(copied)} ${copied === 1 ? "file" : "files"}, ${sizeOf(bytes)}${left}${not}.`);
  if (failed.length === 0) return exitCodes.done;
  return copied + skipped > 0 ? exitCodes.partly : exitCodes.failed;
}
