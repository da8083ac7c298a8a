import { Page } from "../../ui/page.tsx";

export function SecretsPage() {
  return <Page title="Secrets">{null}</Page>;
}
