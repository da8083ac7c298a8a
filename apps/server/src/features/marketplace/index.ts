export { type Marketplace, openMarketplace } from "./open-marketplace.ts";
export type { Listing } from "./store.ts";
