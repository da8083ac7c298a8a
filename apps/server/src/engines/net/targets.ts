import { longestAddress, NetError } from "./net.ts";

export interface Target {
  origin: string;
  /** Includes the query. */
  path: string;
}

const remembered = 256;

/** Checks and splits addresses. Caches the last ones, because models are called at the same address many times. */
export class Targets {
  readonly #known = new Map<string, Target>();

  of(given: string | URL): Target {
    if (typeof given !== "string") return targetOf(given);
    const known = this.#known.get(given);
    if (known) return known;
    const target = targetOf(URL.parse(given));
    if (this.#known.size >= remembered) this.#known.clear();
    this.#known.set(given, target);
    return target;
  }
}

/** User info is refused, because it would be sent and can look like another host. */
function targetOf(url: URL | null): Target {
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new NetError("invalid_url", "The address is not an http or https address");
  }
  if (url.href.length > longestAddress) {
    throw new NetError("invalid_url", `The address has more than ${longestAddress} characters`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new NetError("invalid_url", "The address must not contain a user name or password");
  }
  return { origin: url.origin, path: url.pathname + url.search };
}
