export interface ChosenFile {
  file: File;
  /** The name, or `folder/name` if a whole folder was dropped. */
  relativePath: string;
}

export const chosenFiles = (files: Iterable<File>): ChosenFile[] =>
  Array.from(files, (file) => ({ file, relativePath: file.name }));

/** Includes all files in dropped folders. */
export async function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  // Reads all entries synchronously: the browser clears the transfer after the event.
  const found = Array.from(items, (item) => {
    const entry = item.webkitGetAsEntry();
    const file = entry ? null : item.getAsFile();
    return entry ? filesIn(entry) : chosenFiles(file ? [file] : []);
  });
  return (await Promise.all(found)).flat();
}

async function filesIn(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ file, relativePath: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: ChosenFile[] = [];
  // readEntries returns batches, and an empty one at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return inside;
    inside.push(...(await Promise.all(some.map(filesIn))).flat());
  }
}
