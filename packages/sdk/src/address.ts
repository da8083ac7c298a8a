/** The address of a service, to put a path behind. */
export function serviceAddress(url: string | undefined): string {
  if (typeof url !== "string") throw new TypeError("url has to be a text");
  const address = URL.parse(url);
  const isWeb = address?.protocol === "http:" || address?.protocol === "https:";
  if (!address || !isWeb || address.username !== "" || address.password !== "" || /[?#]/.test(url)) {
    const must = "it begins with http:// or https://, and has no user, ? or #";
    // An error may end in a log, and what stands before an @ or behind a ? may be a secret.
    const shown = JSON.stringify(url.replace(/^.*@/s, "…@").replace(/[?#].*$/s, "?…"));
    throw new TypeError(`${shown} is no address of a service: ${must}`);
  }
  return address.href.replace(/\/+$/, "");
}

/** One part of a path. What would be resolved away, or is nothing, would address something else. */
export function segment(text: string): string {
  if (text === "" || text === "." || text === "..") throw new TypeError(`${JSON.stringify(text)} names nothing`);
  return encodeURIComponent(text);
}

/** Where a model is, by its endpoint id `owner/model`. */
export function modelPath(model: string): string {
  if (typeof model !== "string") throw new TypeError("The first argument has to be the name of a model: owner/model");
  const [owner = "", name = "", ...more] = model.split("/");
  if (owner === "" || name === "" || more.length > 0) {
    throw new TypeError(`A model is named owner/model, not ${JSON.stringify(model)}`);
  }
  return `/api/v1/${segment(owner)}/${segment(name)}`;
}

/** A path within a drive; the slash at its beginning may be left out. The service is not asked about `..`: that would lead out of the drive. */
export function drivePath(path: string): string {
  return path.replace(/^\//, "").split("/").map(segment).join("/");
}

/** A path with the parameters that are given. A date is sent as ISO 8601 in UTC. */
export function withQuery(path: string, query: Record<string, string | number | boolean | Date | undefined>): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
