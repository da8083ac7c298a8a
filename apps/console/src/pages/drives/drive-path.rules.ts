import type { DriveItem } from "@gantry/sdk";

export const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

/** `/a` for `/a/b`, `/` for `/a`. */
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/")) || "/";

export const joined = (folder: string, name: string): string => `${folder === "/" ? "" : folder}/${name}`;

/** Tolerates missing and extra slashes. */
export function folderFrom(typed: string): string {
  const names = typed.split("/").filter((name) => name.trim() !== "");
  return `/${names.map((name) => name.trim()).join("/")}`;
}

export interface Crumb {
  name: string;
  path: string;
}

/** Without the drive itself. */
export function crumbsOf(path: string): Crumb[] {
  const names = path.split("/").filter((name) => name !== "");
  return names.map((name, n) => ({ name, path: `/${names.slice(0, n + 1).join("/")}` }));
}

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** Folders first, and `file 2` before `file 10`. */
export function sorted(items: readonly DriveItem[]): DriveItem[] {
  const rank = ({ type }: DriveItem) => (type === "directory" ? 0 : 1);
  return items.toSorted((a, b) => rank(a) - rank(b) || byName.compare(nameOf(a.path), nameOf(b.path)));
}

/** For example "2 folders, 5 files". */
export function contentText(items: readonly DriveItem[]): string {
  const folders = items.filter(({ type }) => type === "directory").length;
  const files = items.length - folders;
  const parts = [
    ...(folders > 0 ? [`${folders} ${folders === 1 ? "folder" : "folders"}`] : []),
    ...(files > 0 ? [`${files} ${files === 1 ? "file" : "files"}`] : []),
  ];
  return parts.join(", ");
}
