import { Page } from "../../ui/page.tsx";

export function DrivesPage() {
  return <Page title="Drives">{null}</Page>;
}
