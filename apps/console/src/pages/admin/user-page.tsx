import { Page } from "../../ui/page.tsx";

export function UserPage() {
  return <Page title="User">{null}</Page>;
}
