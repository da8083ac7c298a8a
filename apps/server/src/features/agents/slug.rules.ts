const longest = 48;

/** The part of a path that a name becomes: `Weather Reporter!` is `weather-reporter`. Made unique with a number. */
export function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, longest)
    .replace(/^-+|-+$/g, "");
  // A name in another script has no letter that a path could carry as it is.
  return plain === "" ? "agent" : plain;
}
