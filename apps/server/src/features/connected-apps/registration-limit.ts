import { type Client, networkOf } from "../accounts/index.ts";

const mostOfNetwork = 60;
const hourMs = 3_600_000;

export interface RegistrationLimit {
  isReached(from: Client): boolean;
  /** Call it for a registration that was accepted. */
  count(from: Client): void;
}

/**
 * Keeps one network from using up the registrations of an hour, which all share. Counted by each process on its own: a bound
 * that is a few times higher still leaves some for others. Clients of a proxy that is not trusted are not counted, because
 * they all have its address.
 */
export function createRegistrationLimit(): RegistrationLimit {
  let began = performance.now();
  // No larger than the number of accepted registrations.
  let counts = new Map<string, number>();
  const networkFrom = ({ address, isShared }: Client) =>
    isShared || address === null ? undefined : networkOf(address);

  return {
    isReached(from) {
      if (performance.now() - began >= hourMs) {
        began = performance.now();
        counts = new Map();
      }
      const network = networkFrom(from);
      return network !== undefined && (counts.get(network) ?? 0) >= mostOfNetwork;
    },
    count(from) {
      const network = networkFrom(from);
      if (network !== undefined) counts.set(network, (counts.get(network) ?? 0) + 1);
    },
  };
}
