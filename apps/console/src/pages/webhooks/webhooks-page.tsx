import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { Page } from "../../ui/page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { SendTest } from "./send-test.tsx";
import { SigningSecret } from "./signing-secret.tsx";

export function WebhooksPage() {
  const { key } = useSession();
  return (
    <Page
      title="Webhooks"
      lead="Callbacks sent when queued predictions and runs finish, and when money runs low. Gantry tries up to 8 times over 33 hours."
      actions={mayOpen(key, "unconfined keys") && <SendTest />}
    >
      <Deliveries />
      {mayOpen(key, "unconfined keys") && !key.isPlainMember && <SigningSecret />}
    </Page>
  );
}
