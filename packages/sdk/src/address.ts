import type { PathParams, Route } from "@gantry/wire/operations";

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

type ParamsOf<R extends Route> = R extends `${string} ${infer Path}` ? PathParams<Path> : never;
type MethodOf<R extends Route> = R extends `${infer Method} ${string}` ? Method : never;

/**
 * Method and path of an operation of the service. `{path}`, a path within a drive, is filled in as it is: `drivePath`
 * encodes it.
 */
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

/** The two parts of an endpoint id `owner/model`. */
export function modelParams(model: string): { owner: string; model: string } {
  if (typeof model !== "string") throw new TypeError("The first argument has to be the name of a model: owner/model");
  const [owner = "", name = "", ...more] = model.split("/");
  if (owner === "" || name === "" || more.length > 0) {
    throw new TypeError(`A model is named owner/model, not ${JSON.stringify(model)}`);
  }
  return { owner, model: name };
}

/** A path within a drive; the slash at its beginning may be left out. The service is not asked about `..`: that would lead out of the drive. */
export function drivePath(path: string): string {
  return path.replace(/^\//, "").split("/").map(segment).join("/");
}

export type Query = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** A path with the parameters that are given. A date is sent as ISO 8601 in UTC. */
export function withQuery(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
