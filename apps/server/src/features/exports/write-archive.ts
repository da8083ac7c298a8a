import type { ExportManifest } from "@gantry/wire";
import { createTarWriter, type TarWriter } from "../../kernel/tar.ts";
import { JsonLines, type WrittenList } from "./json-lines.ts";
import type { ExportedContent, ExportPart, ExportSubject } from "./part.ts";
import { readme } from "./readme.ts";
import { safePath } from "./safe-path.rules.ts";

interface ArchiveRequest {
  parts: readonly ExportPart[];
  subject: ExportSubject;
  reader: ArchiveReader;
}

export interface ArchiveReader {
  /** Throws if the client has left. */
  check(): void;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Ends with the manifest: an archive without it was cut. */
export async function writeArchive({ parts, subject, reader }: ArchiveRequest): Promise<void> {
  const { userId: id, username, team } = subject.caller;
  const startedAt = new Date().toISOString();
  const tar = createTarWriter(reader.write);
  await tar.file("README.txt", Buffer.from(readme(username, parts)));
  const missing = new JsonLines(tar, "missing");
  const contents = { files: 0, bytes: 0, missing: 0 };
  const lists: Record<string, WrittenList> = {};
  for (const part of parts) {
    const names = Object.keys(part.lists);
    const open = new Map(names.map((name) => [name, new JsonLines(tar, name)]));
    for await (const entry of part.read(subject)) {
      reader.check();
      if ("record" in entry) await listOf(open, entry.list).add(entry.record);
      else {
        const { bytes, trouble } = await addContent(tar, entry);
        if (bytes !== undefined) contents.files += 1;
        contents.bytes += bytes ?? 0;
        if (trouble === undefined) continue;
        contents.missing += 1;
        await missing.add({ path: safePath(entry.path), reason: trouble });
      }
    }
    for (const [name, lines] of open) lists[name] = await lines.end();
  }
  lists.missing = await missing.end();
  const manifest: ExportManifest = {
    format: "gantry-export",
    version: 1,
    account: { id, username, kind: team ? "team" : "person" },
    started_at: startedAt,
    ended_at: new Date().toISOString(),
    with_files: subject.withFiles,
    lists,
    contents,
    complete: true,
  };
  await tar.file("manifest.json", Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  await tar.end();
}

function listOf(open: ReadonlyMap<string, JsonLines>, name: string): JsonLines {
  const list = open.get(name);
  if (!list) throw new Error(`The part does not declare the list ${name}`);
  return list;
}

interface Added {
  /** Undefined: the archive does not have the file. */
  bytes?: number;
  /** Why the file is missing or damaged. */
  trouble?: "deleted" | "unreadable";
}

async function addContent(tar: TarWriter, { path, open }: ExportedContent): Promise<Added> {
  const opened = await open().catch(() => "unreadable" as const);
  if (opened === "unreadable") return { trouble: "unreadable" };
  if (!opened) return { trouble: "deleted" };
  const { size, body } = opened;
  const read = { failed: false };
  try {
    await tar.stream(safePath(path), size, exactly(body, size, read));
  } finally {
    body.destroy();
  }
  return read.failed ? { bytes: size, trouble: "unreadable" } : { bytes: size };
}

const zeros = Buffer.alloc(64 * 1024);

/** The length was written before, so zeros replace what cannot be read. */
async function* exactly(
  body: AsyncIterable<Uint8Array>,
  size: number,
  read: { failed: boolean },
): AsyncGenerator<Uint8Array> {
  let left = size;
  const chunks = body[Symbol.asyncIterator]();
  while (left > 0) {
    const next = await chunks.next().catch(() => ({ done: true, value: undefined }) as const);
    if (next.done) break;
    const chunk = next.value.subarray(0, left);
    left -= chunk.length;
    yield chunk;
  }
  read.failed = left > 0;
  for (; left > 0; left -= zeros.length) yield zeros.subarray(0, Math.min(left, zeros.length));
}
