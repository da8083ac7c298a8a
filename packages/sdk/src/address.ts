import type { PathParams, Route } from "@gantry/wire/operations";

/** Normalizes the base URL of the service. */
export function serviceAddress(url: string | undefined): string {
  if (typeof url !== "string") throw new TypeError("url must be a string");
  // Node 20 has no URL.parse.
  const address = URL.canParse(url) ? new URL(url) : undefined;
  const isWeb = address?.protocol === "http:" || address?.protocol === "https:";
  if (!address || !isWeb || address.username !== "" || address.password !== "" || /[?#]/.test(url)) {
    const must = "it must begin with http:// or https:// and have no user, ? or #";
    // Errors may be logged, and the user part or the query may be a secret.
    const shown = JSON.stringify(url.replace(/^.*@/s, "…@").replace(/[?#].*$/s, "?…"));
    throw new TypeError(`Invalid url ${shown}: ${must}`);
  }
  return address.href.replace(/\/+$/, "");
}

/** Encodes a path segment. Empty and dot segments would address something else. */
export function segment(text: string): string {
  if (text === "" || text === "." || text === "..")
    throw new TypeError(`${JSON.stringify(text)} is not a valid id or name`);
  return encodeURIComponent(text);
}

type ParamsOf<R extends Route> = R extends `${string} ${infer Path}` ? PathParams<Path> : never;
type MethodOf<R extends Route> = R extends `${infer Method} ${string}` ? Method : never;

/** Method and path of an operation. `{path}`, a path in a drive, is inserted as it is: encode it with `drivePath`. */
export function at<R extends Route>(
  route: R,
  ...params: unknown extends ParamsOf<R> ? [] : [ParamsOf<R>]
): { method: MethodOf<R>; path: string } {
  const values = (params[0] ?? {}) as Record<string, string>;
  const [method, template = ""] = route.split(" ");
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name] ?? "";
    return name === "path" ? value : segment(value);
  });
  return { method: method as MethodOf<R>, path };
}

export function modelParams(model: string): { owner: string; model: string } {
  if (typeof model !== "string") throw new TypeError("The first argument must be a model: owner/model");
  const [owner = "", name = "", ...more] = model.split("/");
  if (owner === "" || name === "" || more.length > 0) {
    throw new TypeError(`Invalid model ${JSON.stringify(model)}: use owner/model`);
  }
  return { owner, model: name };
}

/** Encodes a path in a drive; the leading slash is optional. `..` is refused here, because URLs resolve it. */
export function drivePath(path: string): string {
  return path.replace(/^\//, "").split("/").map(segment).join("/");
}

export type Query = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** Dates are sent as ISO 8601 in UTC. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
