import { Page } from "../../ui/page.tsx";

export function IdentityPage() {
  return <Page title="Identity tenant">{null}</Page>;
}
