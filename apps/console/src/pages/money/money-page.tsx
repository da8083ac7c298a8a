import { Page } from "../../ui/page.tsx";

export function MoneyPage() {
  return <Page title="Money">{null}</Page>;
}
