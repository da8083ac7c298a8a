import { type LookupAddress, lookup } from "node:dns";
import { isIP } from "node:net";

const rememberedMs = 30_000;
const mostRemembered = 1_000;

type Resolve = (
  host: string,
  options: { all: true },
  onEnd: (error: Error | null, found?: readonly LookupAddress[]) => void,
) => void;
type OnFound = (addresses: readonly string[]) => void;

/**
 * Resolves a name before a proxy is asked for it; no addresses if it does not resolve here. Networks behind a proxy often
 * have no DNS for outside names: their lookups hang, and each holds one of few threads. So a lookup is waited for briefly,
 * a name is looked up once at a time, and a hanging name is remembered. Never answers synchronously.
 */
export function createLocalLookup(
  resolve: Resolve = lookup,
  patienceMs = 2_000,
): (host: string, onFound: OnFound) => void {
  const running = new Map<string, Set<OnFound>>();
  const hangingUntil = new Map<string, number>();

  function remember(host: string): void {
    hangingUntil.delete(host);
    hangingUntil.set(host, performance.now() + rememberedMs);
    for (const oldest of hangingUntil.keys()) {
      if (hangingUntil.size <= mostRemembered) break;
      hangingUntil.delete(oldest);
    }
  }

  function start(host: string): Set<OnFound> {
    const waiting = new Set<OnFound>();
    running.set(host, waiting);
    const answer = (addresses: readonly string[]) => {
      for (const onFound of waiting) onFound(addresses);
      waiting.clear();
    };
    const timer = setTimeout(() => {
      remember(host);
      answer([]);
    }, patienceMs);
    resolve(host, { all: true }, (error, found = []) => {
      clearTimeout(timer);
      running.delete(host);
      if (!error) hangingUntil.delete(host);
      answer(error ? [] : found.map((each) => each.address));
    });
    return waiting;
  }

  return (host, onFound) => {
    if (isIP(host) !== 0) return void setImmediate(onFound, [host]);
    if ((hangingUntil.get(host) ?? 0) > performance.now()) return void setImmediate(onFound, []);
    (running.get(host) ?? start(host)).add(onFound);
  };
}
