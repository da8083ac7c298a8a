import { fault } from "../../kernel/errors.ts";

/** The limit of S3, enforced by every driver. */
const maxKeyBytes = 1024;

/** Refuses keys that some driver cannot store or a link cannot carry. */
export function checkKey(key: string): void {
  const bytes = Buffer.byteLength(key);
  const dots = key.split("/").some((segment) => segment === "." || segment === "..");
  if (bytes === 0 || bytes > maxKeyBytes || dots || !key.isWellFormed()) {
    throw fault("value_error", "The name cannot be used for a stored file");
  }
}
