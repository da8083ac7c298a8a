import { mayOpen } from "../../shell/key-reach.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Page } from "../../ui/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SigningSecret } from "./signing-secret.tsx";

export function WebhooksPage() {
  const { key } = useSession();
  return (
    <Page
      title="Webhooks"
      lead="What queued predictions told your servers when they ended. Each is tried eight times within a day and a half."
    >
      <Deliveries />
      {mayOpen(key, "unconfined keys") && <SigningSecret />}
    </Page>
  );
}
