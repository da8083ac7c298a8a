import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Page } from "../../ui/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SigningSecret } from "./signing-secret.tsx";

export function WebhooksPage() {
  const { key } = useSession();
  return (
    <Page title="Webhooks" lead="Callbacks sent when queued predictions finish. Retried up to 8 times over 36 hours.">
      <Deliveries />
      {mayOpen(key, "unconfined keys") && <SigningSecret />}
    </Page>
  );
}
