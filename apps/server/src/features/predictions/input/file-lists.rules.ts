import type { CheckedFields, ReceivedFile } from "./checked-fields.ts";
import { parseJson } from "./convert-text.rules.ts";
import { type FormEntry, issueOf, type Problem } from "./form.ts";
import { maxFileBytes, megabyte, tooLarge } from "./media.rules.ts";
import type { FileField } from "./plan-input.rules.ts";

/** Collects the entries of the lists of files in one form: file parts, addresses, and JSON lists of addresses. */
export class FileLists {
  readonly #counts = new Map<FileField, number>();
  readonly #unreadable = new Set<FileField>();

  add<F>(checked: CheckedFields<F>, field: FileField, entry: FormEntry<ReceivedFile<F>>): void {
    if ("file" in entry) {
      const index = this.#next(checked, field);
      if ("issue" in entry.file) {
        const { issue } = entry.file;
        // The length is reported once, at the end.
        if (issue.type !== "sequence_too_long") checked.issues.push({ ...issue, loc: [...issue.loc, index] });
      } else if (!isBeyond(field, index)) checked.files.push({ field, file: entry.file.file, index });
      return;
    }
    const { name: sentAs, value: text } = entry;
    // Null, or an empty file input.
    if (text === "" || (field.isNullable && text === "null")) return;
    const addresses = text.trimStart().startsWith("[") ? addressesIn(text) : [text];
    checked.lists.add(field);
    if (!addresses) {
      this.#unreadable.add(field);
      checked.issues.push(issueOf(sentAs, { type: "json_invalid", msg: "Input should be a JSON list of addresses" }));
      return;
    }
    for (const address of addresses) {
      const index = this.#next(checked, field);
      if (!isBeyond(field, index)) checked.addresses.push({ field, sentAs, address, index });
    }
  }

  /** Reports lists of a wrong length. Call it after the last entry. */
  end<F>(checked: CheckedFields<F>): void {
    for (const field of checked.lists) {
      if (this.#unreadable.has(field)) continue;
      const problem = wrongLength(field, this.#counts.get(field) ?? 0);
      if (problem) checked.issues.push(issueOf(field.name, problem));
    }
  }

  #next<F>({ lists }: CheckedFields<F>, field: FileField): number {
    const index = this.#counts.get(field) ?? 0;
    this.#counts.set(field, index + 1);
    lists.add(field);
    return index;
  }
}

function isBeyond({ list }: FileField, index: number): boolean {
  return list !== undefined && index >= list.most;
}

function addressesIn(text: string): string[] | undefined {
  const value = parseJson(text);
  return Array.isArray(value) && value.every((entry) => typeof entry === "string") ? value : undefined;
}

function wrongLength({ list }: FileField, count: number): Problem | undefined {
  if (list && count > list.most) return tooManyFiles(list.most);
  if (!list || count >= list.least) return undefined;
  const msg = `Input should have at least ${list.least} entries`;
  return { type: "sequence_too_short", msg, ctx: { min_length: list.least } };
}

export function tooManyFiles(most: number): Problem {
  const msg = `Input should have at most ${most} entries`;
  return { type: "sequence_too_long", msg, ctx: { max_length: most } };
}

/** Bounds the bytes of each list of files in a form: together they are at most as large as one file may be. */
export class ListBytes {
  readonly #left = new Map<FileField, number>();

  /** The bytes that the next file of the field may have. */
  most(field: FileField, ofOneFile = field.file.maxBytes): number {
    return field.list ? Math.min(ofOneFile, this.#left.get(field) ?? maxFileBytes) : ofOneFile;
  }

  take(field: FileField, size: number): void {
    if (field.list) this.#left.set(field, Math.max(0, (this.#left.get(field) ?? maxFileBytes) - size));
  }

  tooLarge(field: FileField): Problem {
    if (this.most(field) === field.file.maxBytes) return tooLarge(field.file);
    const msg = `The files of the list are larger than ${maxFileBytes / megabyte} MB together`;
    return { type: "file_too_large", msg, ctx: { max_size: maxFileBytes } };
  }
}
