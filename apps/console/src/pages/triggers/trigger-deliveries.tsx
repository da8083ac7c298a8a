import type { TriggerDeliveryRecord, TriggerRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { readableMessage } from "../../ui/api-messages.rules.ts";
import { Badge } from "../../ui/badge.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { triggerDeliveriesQuery } from "./trigger-queries.ts";

const states = {
  accepted: <Badge tone="good">Accepted</Badge>,
  duplicate: <Badge>Duplicate</Badge>,
  refused: <Badge tone="bad">Refused</Badge>,
};

const columns: readonly Column<TriggerDeliveryRecord>[] = [
  { head: "Received", cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    head: "Result",
    cell: ({ status, reason }) => (
      <span className="flex flex-col items-start gap-0.5">
        {states[status]}
        {reason && <span className="wrap-anywhere text-muted text-xs">{readableMessage(reason)}</span>}
      </span>
    ),
  },
  {
    head: "Delivery ID",
    wide: true,
    cell: ({ delivery_id }) => <code className="wrap-anywhere text-muted text-xs">{delivery_id ?? ""}</code>,
  },
  {
    head: "Run",
    cell: ({ run_id }) =>
      run_id && (
        <TextLink to="/runs/$runId" params={{ runId: run_id }}>
          View run
        </TextLink>
      ),
  },
];

/** What arrived at the address of a trigger, and what became of it. */
export function TriggerDeliveries({ trigger, onClose }: { trigger: TriggerRecord; onClose(): void }) {
  const [page, setPage] = useState(1);
  const list = useQuery(triggerDeliveriesQuery(trigger.id, page));
  return (
    <Dialog wide open onClose={onClose} title={`Deliveries to ${trigger.name ?? trigger.id}`}>
      <div className="-mx-5 -mb-5 border-line border-t">
        <PagedTable
          label="Deliveries"
          query={list}
          keyOf={({ id }) => id}
          columns={columns}
          onPage={setPage}
          empty={<Empty title="Nothing arrived yet">Send a request to the address of the trigger.</Empty>}
        />
      </div>
    </Dialog>
  );
}
