import { Page } from "../../ui/page.tsx";

export function DrivePage() {
  return <Page title="Drive">{null}</Page>;
}
