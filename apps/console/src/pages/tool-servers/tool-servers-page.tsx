import { Page } from "../../ui/page.tsx";

export function ToolServersPage() {
  return <Page title="Tool servers">{null}</Page>;
}
