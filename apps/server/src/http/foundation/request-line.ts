import type { IncomingHttpHeaders } from "node:http";
import { newId } from "@gantry/wire";

/** Requests to a proxy name a host before the path; the router accepts them too. */
const hostBefore = /^https?:\/\/[^/#]*/i;

/** The path of a request, as it was sent. */
export function pathOf(url: string): string {
  const [address = ""] = url.split("?", 1);
  return address.replace(hostBefore, "") || "/";
}

/** Without the secret of a trigger's address. */
export function loggedPathOf(url: string): string {
  return pathOf(url).replace(/^(\/+hooks\/+[^/]*)\/.*/i, "$1/…");
}

/** The route without the patterns of its parameters, for metrics. */
export function templateOf(route: string): string {
  return route.replace(/\(.*?\)(?=\/|$)/g, "");
}

const presented = /^[A-Za-z0-9._-]{8,64}$/;

/** The client's own request id if it is valid, or a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && presented.test(given) ? given : newId("request");
}
