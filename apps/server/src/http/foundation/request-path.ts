/** Requests to a proxy name a host before the path; the router accepts them too. */
const hostBefore = /^https?:\/\/[^/#]*/i;

/** The path of a request, as it was sent. */
export function pathOf(url: string): string {
  const [address = ""] = url.split("?", 1);
  return address.replace(hostBefore, "") || "/";
}

/** The route without the patterns of its parameters, for metrics. */
export function templateOf(route: string): string {
  return route.replace(/\(.*?\)(?=\/|$)/g, "");
}
