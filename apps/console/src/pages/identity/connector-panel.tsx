import type { IdpConnectorRecord } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { useSession } from "../../shell/session.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Detail } from "../../ui/detail.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { toast } from "../../ui/toast.ts";

export function ConnectorPanel({ connector, onReplace }: { connector: IdpConnectorRecord; onReplace(): void }) {
  const { domain, token_last4, expires_at, scopes, warnings } = connector;
  const { key } = useSession();
  const isExpired = expires_at !== null && new Date(expires_at) < new Date();
  return (
    <>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" title={warning} />
      ))}
      <Panel
        title={domain}
        actions={
          !key.isPlainMember && (
            <div className="flex flex-wrap gap-2">
              <Button onClick={onReplace}>Replace token</Button>
              <DisconnectButton domain={domain} />
            </div>
          )
        }
      >
        <dl className="grid gap-x-6 gap-y-3 sm:grid-cols-3">
          <Detail name="Token">
            <code>…{token_last4}</code>
          </Detail>
          <Detail name={isExpired ? "Expired" : "Expires"}>
            {expires_at ? <Moment at={expires_at} /> : "Unknown"}
          </Detail>
          <Detail name="Scopes">{scopes ? scopes.length : "Unknown"}</Detail>
        </dl>
        {scopes && scopes.length > 0 && (
          <details className="mt-3">
            <summary className="text-muted hover:text-ink">Show scopes</summary>
            <ul className="mt-2 flex flex-wrap gap-1">
              {scopes.map((scope) => (
                <li key={scope}>
                  <Badge>{scope}</Badge>
                </li>
              ))}
            </ul>
          </details>
        )}
      </Panel>
    </>
  );
}

function DisconnectButton({ domain }: { domain: string }) {
  const queries = useQueryClient();
  const disconnecting = useMutation({
    mutationFn: () => api.idp.delete(),
    async onSuccess() {
      toast(`${domain} disconnected`);
      await queries.invalidateQueries({ queryKey: ["identity"] });
    },
  });
  return (
    <ConfirmButton
      label="Disconnect"
      question={`Disconnect ${domain}?`}
      explanation="Gantry deletes the token, and agents can no longer use the tenant. The tenant itself doesn't change."
      onConfirm={() => disconnecting.mutateAsync()}
    />
  );
}
