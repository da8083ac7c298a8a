import type { LedgerRecord, OverviewRecord } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { Scale } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { count, money } from "../../ui/format.ts";
import { Failure, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { discrepancyText, figureOf } from "./ledger-discrepancies.rules.ts";

export function LedgerPanel({ books }: { books: OverviewRecord["books"] }) {
  const checking = useMutation({ meta: { showsFailure: true }, mutationFn: () => api.admin.checkBooks() });
  const sides: [string, number][] = [
    ["User balances", books.balances],
    ["On hold", books.reserved],
    ["Platform revenue", books.platform],
    ["Credits added", -books.outside],
    ["Difference", books.sum],
  ];
  return (
    <Panel
      title="Ledger"
      actions={
        <Button icon={<Scale size={14} />} busy={checking.isPending} onClick={() => checking.mutate()}>
          Check ledger
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {checking.isError && <Failure error={checking.error} />}
        {checking.data && <Outcome outcome={checking.data} />}
        {books.sum !== 0 && !checking.data && (
          <Notice tone="bad" title="The ledger does not balance">
            Run the check to find the cause.
          </Notice>
        )}
        <dl className="flex flex-col gap-2">
          {sides.map(([name, value]) => (
            <div key={name} className="flex justify-between gap-4">
              <dt className="text-muted">{name}</dt>
              <dd className="font-medium tabular-nums">{money(value)}</dd>
            </div>
          ))}
        </dl>
      </div>
    </Panel>
  );
}

function Outcome({ outcome: { accounts, sum, discrepancies } }: { outcome: LedgerRecord }) {
  if (discrepancies.length === 0) {
    return (
      <div role="status">
        <Notice tone="good" title="Ledger balanced">
          {count(accounts)} accounts checked. Difference: {money(sum)}. Every charge matches its usage.
        </Notice>
      </div>
    );
  }
  return (
    <>
      <Notice tone="bad" title="Ledger check failed">
        {count(accounts)} accounts checked. Difference: {money(sum)}. Back up the database before you change anything,
        then look into these discrepancies:
      </Notice>
      <Table
        label="Discrepancies"
        rows={discrepancies}
        keyOf={({ rule, subject }) => `${rule} ${subject}`}
        columns={[
          {
            head: "Discrepancy",
            cell: (discrepancy) => (
              <>
                <p>{discrepancyText(discrepancy)}</p>
                <p className="break-all font-mono text-muted text-xs">{discrepancy.subject}</p>
              </>
            ),
          },
          { head: "Expected", align: "right", cell: (row) => figureOf(row, row.expected) },
          { head: "Found", align: "right", cell: (row) => figureOf(row, row.found) },
        ]}
      />
    </>
  );
}
