import { join } from "node:path";
import type { FileRecord, GantryClient, StoredFile } from "@gantry/sdk";
import { isFolder } from "../drives/local-files.ts";
import { localTarget } from "../drives/places.rules.ts";
import type { Context } from "../frame/command.ts";
import { describeFailure, exitCodes, Failure, wrongArguments } from "../frame/failure.ts";
import { ago, sizeOf } from "../frame/format.rules.ts";
import { printList } from "../frame/list.ts";
import { openFile } from "../shared/open-file.ts";
import { confirmDeletion } from "../shared/questions.ts";
import { saveContent } from "../shared/save-content.ts";

export async function listFiles(context: Context): Promise<number> {
  const client = await context.client();
  const filter = { q: context.text("search"), origin: context.text("origin") as FileRecord["origin"] | undefined };
  return printList(
    context,
    client.files.each(filter),
    [
      { title: "file", value: ({ id }) => id },
      { title: "type", value: ({ content_type }) => content_type },
      { title: "size", value: ({ size }) => (size === null ? "" : sizeOf(size)), align: "right" },
      { title: "origin", value: ({ origin, model_name }) => model_name ?? origin },
      { title: "created", value: ({ created_at }) => ago(created_at) },
      { title: "address", value: ({ s3_path }) => s3_path },
    ],
    "No files found.",
  );
}

export async function uploadFiles(context: Context): Promise<number> {
  const { out, words } = context;
  const client = await context.client();
  const model = context.text("model") ?? (await anyModel(client));
  const stored: StoredFile[] = [];
  for (const file of words) {
    out.progress(`Uploading ${file}`);
    try {
      const content = await openFile(file);
      const done = await client.files.upload(model, content, { filename: content.name, signal: context.signal });
      stored.push(done);
      if (!context.flag("json")) out.line(done.s3_path);
    } catch (error) {
      if (context.signal.aborted) throw error;
      const message = describeFailure(error);
      out.note(message.includes(file) ? message : `${file}: ${message}`);
    }
  }
  out.progress(undefined);
  // Without a result stdout stays empty, as after every failure.
  const result = words.length === 1 ? stored[0] : stored;
  if (context.flag("json") && result) out.json(result);
  return codeOf(stored.length, words.length);
}

/** Uploads belong to the user; the API only wants a model that the key may call. */
async function anyModel(client: GantryClient): Promise<string> {
  for await (const { endpoint_id } of client.models.each()) return endpoint_id;
  throw new Failure("Your key may not call any model. Name one with --model OWNER/MODEL.");
}

export async function downloadFile(context: Context): Promise<number> {
  const { out, signal, flag } = context;
  const isPiped = context.text("out") === "-";
  if (isPiped && flag("json")) throw wrongArguments("--json needs a file: --out - writes the bytes to stdout.");
  const client = await context.client();
  const file = await findFile(client, context.words[0] ?? "");
  if (file.link === null) throw new Failure(whyWithoutLink(file));
  const wanted = context.text("out");
  const name = decodeURIComponent(new URL(file.s3_path).pathname.split("/").at(-1) ?? "");
  // The name comes from the server: it must not lead out of the folder.
  const own = (folder: string) => localTarget(folder, "/", `/${name}`);
  const to = wanted === undefined ? own(".") : (await isFolder(wanted)) ? own(wanted) : wanted;
  const { link } = file;
  const bytes = await saveContent(context, to, () => client.files.download(link, { signal }));
  if (isPiped) return exitCodes.done;
  if (flag("json")) out.json({ id: file.id, path: join(to), bytes });
  else {
    out.line(join(to));
    out.note(`Downloaded ${sizeOf(bytes)}.`);
  }
  return exitCodes.done;
}

export async function deleteFiles(context: Context): Promise<number> {
  const { out, words } = context;
  const client = await context.client();
  const what = words.length === 1 ? (words[0] ?? "") : `${words.length} files`;
  if (!(await confirmDeletion(context, what))) return exitCodes.failed;
  const deleted: string[] = [];
  for (const text of words) {
    try {
      const { id } = await findFile(client, text);
      await client.files.delete(id);
      deleted.push(id);
    } catch (error) {
      out.note(`${text}: ${describeFailure(error)}`);
    }
  }
  if (context.flag("json")) out.json({ deleted });
  return codeOf(deleted.length, words.length);
}

async function findFile(client: GantryClient, text: string): Promise<FileRecord> {
  const q = text.startsWith("s3://") ? text.split("/").at(-1) : text;
  for await (const file of client.files.each({ q })) if (file.id === text || file.s3_path === text) return file;
  throw new Failure(`The file ${text} does not exist. gantry files list shows your files.`);
}

function whyWithoutLink({ id, size }: FileRecord): string {
  if (size === null) return `The bytes of ${id} have not arrived yet.`;
  return `The name of ${id} is too long for a download link of this server. gantry account export has the file.`;
}

function codeOf(done: number, all: number): number {
  if (done === all) return exitCodes.done;
  return done > 0 ? exitCodes.partly : exitCodes.failed;
}
