import { toast } from "../ui/toast.ts";

const kept = "gantry-said-after-reload";
let isAsked = false;

/**
 * Begins anew, with nothing left of what the page had read for somebody else; `words` are said then. Asked once: a page
 * with something unsaved lets its user stay to copy it, and then this is not tried again at every call.
 */
export function reload(words?: string): void {
  if (isAsked) return;
  isAsked = true;
  if (words !== undefined) sessionStorage.setItem(kept, words);
  location.reload();
}

export function sayWhatWasKept(): void {
  const words = sessionStorage.getItem(kept);
  if (words === null) return;
  sessionStorage.removeItem(kept);
  toast(words, "info");
}
