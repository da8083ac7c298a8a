import type { IdpActionRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { Detail } from "../../ui/detail.tsx";
import { Panel } from "../../ui/page.tsx";
import { ActionBadges } from "./action-badges.tsx";
import { describedAction } from "./action-list.rules.ts";

export function AboutAction({ action, domain }: { action: IdpActionRecord; domain: string | undefined }) {
  const { answers } = describedAction(action.description);
  return (
    <Panel title="About it">
      <dl className="flex flex-col gap-3">
        <Detail name="Kind">
          <ActionBadges action={action} />
        </Detail>
        <Detail name="Tenant">{domain ?? "None is connected"}</Detail>
        <Detail name="Call">
          <code className="break-all">
            {action.upstream.method} {action.upstream.path}
          </code>
        </Detail>
        <Detail name={action.scopes.length > 1 ? "Scopes, one of which it needs" : "Scope"}>
          <span className="flex flex-wrap gap-1">
            {action.scopes.map((scope) => (
              <Badge key={scope}>{scope}</Badge>
            ))}
          </span>
        </Detail>
        {answers && <Detail name="What it answers">{answers}</Detail>}
      </dl>
    </Panel>
  );
}
