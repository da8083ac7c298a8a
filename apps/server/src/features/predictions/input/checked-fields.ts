import type { InputValue } from "../../../engines/models/driver.ts";
import type { Issue } from "../../../kernel/errors.ts";
import type { UserPart, WebhookPart } from "./check-extras.rules.ts";
import type { FileField } from "./plan-input.rules.ts";

export type ReceivedFile<F> = { file: F } | { issue: Issue };

/** `index` is the position in a list of files. */
type ListedFile<T> = T & { field: FileField; index: number };

export interface CheckedFields<F> {
  /** Without files. Has no prototype, so that fields may have any name. */
  values: Record<string, InputValue>;
  addresses: ListedFile<{ sentAs: string; address: string }>[];
  files: ListedFile<{ file: F }>[];
  /** The lists of files that were sent, which may be empty. */
  lists: Set<FileField>;
  user: UserPart | undefined;
  webhook: WebhookPart | undefined;
  issues: Issue[];
}
