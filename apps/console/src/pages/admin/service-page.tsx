import { Page } from "../../ui/page.tsx";

export function ServicePage() {
  return <Page title="Service">{null}</Page>;
}
