/** The entries of an Accept or Accept-Encoding header with their quality, in order. */
export function ranges(accept: string): { type: string; quality: number }[] {
  return accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase());
    const quality = Number(parameters.find((one) => /^q\s*=/.test(one))?.replace(/^q\s*=/, "") ?? 1);
    return { type, quality: Number.isNaN(quality) ? 0 : quality };
  });
}

/** Whether the client accepts `type` at least as much as `other`; of equals it gets the first. */
export function prefers(accept: string | undefined, type: string, other: string): boolean {
  // Nearly all clients send no Accept header, or a single type.
  if (accept === undefined || accept === "*/*" || accept === other) return false;
  if (accept === type) return true;
  const accepted = ranges(accept);
  const own = accepted.findIndex((range) => range.type === type);
  const quality = accepted[own]?.quality ?? 0;
  if (quality <= 0) return false;
  const others = accepted.findIndex((range) => range.type === other);
  const othersQuality = accepted[others]?.quality ?? 0;
  return quality > othersQuality || (quality === othersQuality && own < others);
}

export function prefersOverJson(accept: string | undefined, type: string): boolean {
  return prefers(accept, type, "application/json");
}
