export { type Marketplace, openMarketplace } from "./open-marketplace.ts";
export type { Listing, TakeDown } from "./store.ts";
