import { longestAddress, NetError } from "./net.ts";

/** Where a call goes. */
export interface Target {
  origin: string;
  /** With the query. */
  path: string;
}

const remembered = 256;

/** Checks addresses and takes them apart. A model is called at the same one again and again: the last few are kept. */
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

/** Only http and https, and no user info: it would be sent along, and reads like another host. */
function targetOf(url: URL | null): Target {
  if (!url || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new NetError("invalid_url", "The address is no http or https address");
  }
  if (url.href.length > longestAddress) {
    throw new NetError("invalid_url", `The address has more than ${longestAddress} characters`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new NetError("invalid_url", "The address must not carry a user name or password");
  }
  return { origin: url.origin, path: url.pathname + url.search };
}
