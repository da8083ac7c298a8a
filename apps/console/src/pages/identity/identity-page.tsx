import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSession } from "../../shell/session.ts";
import { Button } from "../../ui/button.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { ActionsPanel } from "./actions-panel.tsx";
import { ConnectDialog } from "./connect-dialog.tsx";
import { ConnectorPanel } from "./connector-panel.tsx";
import { connectorQuery } from "./identity-queries.ts";

export function IdentityPage() {
  const connector = useQuery(connectorQuery);
  const [isConnecting, setConnecting] = useState(false);
  const { key } = useSession();
  return (
    <Page
      title="Identity tenant"
      lead="Manage users, roles and clients of your identity provider, yourself or with agents."
    >
      <Loaded query={connector}>
        {(connected) =>
          connected ? (
            <>
              <ConnectorPanel connector={connected} onReplace={() => setConnecting(true)} />
              <ActionsPanel />
            </>
          ) : (
            <Panel>
              <Empty title="No tenant connected">
                {key.isPlainMember ? (
                  "An admin or owner of the team can connect one."
                ) : (
                  <>
                    <p>
                      You need the tenant's domain and a token for its management API. Then you and your agents can
                      manage its users, roles and clients from here.
                    </p>
                    <Button kind="primary" className="mt-3" onClick={() => setConnecting(true)}>
                      Connect tenant
                    </Button>
                  </>
                )}
              </Empty>
            </Panel>
          )
        }
      </Loaded>
      {isConnecting && <ConnectDialog domain={connector.data?.domain} onClose={() => setConnecting(false)} />}
    </Page>
  );
}
