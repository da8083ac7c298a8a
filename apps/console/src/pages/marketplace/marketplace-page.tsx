import { Page } from "../../ui/page.tsx";

export function MarketplacePage() {
  return <Page title="Marketplace">{null}</Page>;
}
