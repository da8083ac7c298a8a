import type { ScheduleRecord, TriggerRecord } from "@gantry/sdk";
import type { ReactNode } from "react";
import { readableMessage } from "../../ui/api-messages.rules.ts";
import { Badge } from "../../ui/badge.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Notice } from "../../ui/notice.tsx";
import { NewPrice, useNewPrice } from "./new-price.tsx";

const states = {
  active: <Badge tone="good">Active</Badge>,
  disabled: <Badge>Off</Badge>,
  paused: <Badge tone="warn">Paused</Badge>,
};

interface AutomationEntryProps {
  /** A schedule or a trigger. */
  of: ScheduleRecord | TriggerRecord;
  kind: "schedule" | "trigger";
  label: string;
  title: ReactNode;
  /** Names the agent. */
  showsAgent: boolean;
  about: ReactNode;
  actions: ReactNode;
  children: ReactNode;
}

export function AutomationEntry({
  of,
  kind,
  label,
  title,
  showsAgent,
  about,
  actions,
  children,
}: AutomationEntryProps) {
  const { status, paused_reason, agent_id, agent_name } = of;
  const price = useNewPrice(of);
  return (
    <li aria-label={label} className="flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <div className="min-w-0">
          <h3 className="flex flex-wrap items-center gap-2 font-medium">
            <span className="wrap-anywhere">{title}</span>
            {states[status]}
          </h3>
          <p className="text-muted">
            {showsAgent && (
              <>
                <TextLink to="/agents/$agentId" params={{ agentId: agent_id }} search={{ tab: `${kind}s` }}>
                  {agent_name}
                </TextLink>
                {" · "}
              </>
            )}
            {about}
          </p>
        </div>
        {actions}
      </div>
      {price !== undefined && <NewPrice of={of} kind={kind} price={price} />}
      {status === "paused" && price === undefined && (
        <Notice tone="warn" title="Paused">
          {paused_reason ? readableMessage(paused_reason) : `Gantry paused this ${kind}.`} Fix the cause, then choose
          Resume.
        </Notice>
      )}
      {children}
    </li>
  );
}
