/** Each entry of an Accept or Accept-Encoding header with how much it is liked, in the order in which they stand. */
export function ranges(accept: string): { type: string; quality: number }[] {
  return accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((one) => /^q\s*=/.test(one))?.replace(/^q\s*=/, "") ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
}

/** Whether a client names a type, and likes it no less than another; who likes both equally gets what it names first. */
export function prefers(accept: string | undefined, type: string, other: string): boolean {
  // Nearly all clients name it not at all, or alone.
  if (accept === undefined || accept === "*/*" || accept === other) return false;
  if (accept === type) return true;
  const liked = ranges(accept);
  const own = liked.findIndex((range) => range.type === type);
  const quality = liked[own]?.quality ?? 0;
  if (quality <= 0) return false;
  const others = liked.findIndex((range) => range.type === other);
  const othersQuality = liked[others]?.quality ?? 0;
  return quality > othersQuality || (quality === othersQuality && own < others);
}

export function prefersOverJson(accept: string | undefined, type: string): boolean {
  return prefers(accept, type, "application/json");
}
