/** A file that somebody chose, and where below the folder it goes. */
export interface ChosenFile {
  file: File;
  /** Its name, or `folder/name` where a whole folder was dropped. */
  relativePath: string;
}

export const chosenFiles = (files: Iterable<File>): ChosenFile[] =>
  Array.from(files, (file) => ({ file, relativePath: file.name }));

/** What was dropped, with all that is in the folders among it. */
export async function droppedFiles({ items }: DataTransfer): Promise<ChosenFile[]> {
  // All of it is asked for at once: the browser forgets the drop with the turn it came in.
  const found = Array.from(items, (item) => {
    const entry = item.webkitGetAsEntry();
    const file = entry ? null : item.getAsFile();
    return entry ? filesBelow(entry) : chosenFiles(file ? [file] : []);
  });
  return (await Promise.all(found)).flat();
}

async function filesBelow(entry: FileSystemEntry): Promise<ChosenFile[]> {
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return [{ file, relativePath: entry.fullPath.replace(/^\//, "") }];
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  const inside: ChosenFile[] = [];
  // It gives some at a time, and none when there are no more.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return inside;
    inside.push(...(await Promise.all(some.map(filesBelow))).flat());
  }
}
