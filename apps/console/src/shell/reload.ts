import { toast } from "../ui/toast.ts";

const storageKey = "gantry-after-reload";
let isRequested = false;

/**
 * Reloads the page, so that no data of another user stays in memory, then shows `message`. Only the first call counts: a
 * page with unsaved changes lets its user stay, and later calls must not ask again.
 */
export function reload(message?: string): void {
  if (isRequested) return;
  isRequested = true;
  if (message !== undefined) sessionStorage.setItem(storageKey, message);
  location.reload();
}

/** Call when the user whose page stayed is signed in again: the next sign-out asks again. */
export function allowReload(): void {
  isRequested = false;
}

export function showMessageAfterReload(): void {
  const message = sessionStorage.getItem(storageKey);
  if (message === null) return;
  sessionStorage.removeItem(storageKey);
  toast(message, "info");
}
