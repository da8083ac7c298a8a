import type { LongTexts } from "./form-address.rules.ts";

const prefix = "gantry-text-";
/** Of all kept texts together. The oldest are dropped first. */
const mostTexts = 50;

/** Texts too long for an address, as long as the tab is open. The same text has the same id. */
export const longTexts: LongTexts = {
  keep(text) {
    const id = idOf(text);
    try {
      const kept = Object.keys(sessionStorage).filter((key) => key.startsWith(prefix));
      if (kept.length >= mostTexts && !kept.includes(prefix + id)) {
        const [oldest] = kept.sort((a, b) => ageOf(a) - ageOf(b));
        if (oldest !== undefined) sessionStorage.removeItem(oldest);
      }
      sessionStorage.setItem(prefix + id, JSON.stringify({ at: Date.now(), text }));
    } catch {
      // Without storage, or when it is full, the text is lost on reload.
    }
    return id;
  },
  find: (id) => entryOf(prefix + id)?.text,
};

function entryOf(key: string): { at: number; text: string } | undefined {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null") ?? undefined;
  } catch {
    return undefined;
  }
}

const ageOf = (key: string): number => entryOf(key)?.at ?? 0;

/** FNV-1a of the text, with its length: short, and equal for equal texts. */
function idOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193) >>> 0;
  return `${hash.toString(36)}-${text.length.toString(36)}`;
}
