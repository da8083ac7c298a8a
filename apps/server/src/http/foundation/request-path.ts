/** What clients send to a proxy names a host before the path, and the router takes it as well. */
const hostBefore = /^https?:\/\/[^/#]*/i;

/** The path of what a request asks for, as it was sent. */
export function pathOf(url: string): string {
  const [address = ""] = url.split("?", 1);
  return address.replace(hostBefore, "") || "/";
}

/** A route as it is measured: without the patterns that its parameters must match. */
export function templateOf(route: string): string {
  return route.replace(/\(.*?\)(?=\/|$)/g, "");
}
