import type { IdpActionRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { Detail } from "../../ui/detail.tsx";
import { Panel } from "../../ui/page.tsx";
import { ActionBadges } from "./action-badges.tsx";
import { describedAction } from "./action-list.rules.ts";

export function AboutAction({ action, domain }: { action: IdpActionRecord; domain: string | undefined }) {
  const { response } = describedAction(action.description);
  return (
    <Panel title="About this action">
      <dl className="flex flex-col gap-3">
        <Detail name="Type">
          <ActionBadges action={action} />
        </Detail>
        <Detail name="Tenant">{domain ?? "Not connected"}</Detail>
        <Detail name="Request">
          <code className="break-all">
            {action.upstream.method} {action.upstream.path}
          </code>
        </Detail>
        <Detail name={action.scopes.length > 1 ? "Required scopes (one of)" : "Required scope"}>
          <span className="flex flex-wrap gap-1">
            {action.scopes.map((scope) => (
              <Badge key={scope}>{scope}</Badge>
            ))}
          </span>
        </Detail>
        {response && <Detail name="Response">{response}</Detail>}
      </dl>
    </Panel>
  );
}
