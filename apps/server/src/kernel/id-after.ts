import { type IdKind, newId } from "@gantry/wire";

const digits = "0123456789abcdefghjkmnpqrstvwxyz";
/** Digits of an id that are not random: its time, then a number. */
const ordered = 14;

/** A new id that sorts right behind another one. */
export function idAfter(kind: IdKind, last: string): string {
  const start = last.indexOf("_") + 1;
  const places = [...last.slice(start, start + ordered)].map((digit) => digits.indexOf(digit));
  for (let at = places.length - 1; at >= 0; at--) {
    const next = ((places[at] ?? 0) + 1) % digits.length;
    places[at] = next;
    if (next > 0) break;
  }
  const fresh = newId(kind);
  return last.slice(0, start) + places.map((place) => digits.charAt(place)).join("") + fresh.slice(start + ordered);
}
