export { type FoundServer, foundAddresses, storeFound } from "./found-providers.ts";
export { openProviders, type Providers } from "./open-providers.ts";
export type { Offer, Provider, ProviderConnection, ProviderOwner, Upstreams } from "./provider.ts";
export type { ListedProvider } from "./providers.ts";
