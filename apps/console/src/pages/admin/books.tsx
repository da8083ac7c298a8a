import type { LedgerRecord, OverviewRecord } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { Scale } from "lucide-react";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { count, money } from "../../ui/format.ts";
import { Failure, Notice } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { Table } from "../../ui/table.tsx";
import { figureOf, wordsOfDiscrepancy } from "./broken-rules.rules.ts";

/** The sides of the ledger, and whether they are right. */
export function Books({ books }: { books: OverviewRecord["books"] }) {
  const checking = useMutation({ meta: { showsFailure: true }, mutationFn: () => api.admin.checkBooks() });
  const sides: [string, number][] = [
    ["In all wallets", books.balances],
    ["Of these reserved", books.reserved],
    ["Earned by the platform", books.platform],
    ["Came from outside", -books.outside],
    ["Sum of all sides", books.sum],
  ];
  return (
    <Panel
      title="Books"
      actions={
        <Button icon={<Scale size={14} />} busy={checking.isPending} onClick={() => checking.mutate()}>
          Check the books
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {checking.isError && <Failure error={checking.error} />}
        {checking.data && <Outcome outcome={checking.data} />}
        {books.sum !== 0 && !checking.data && (
          <Notice tone="bad" title="The books do not add up to zero">
            Check them to see where.
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
        <Notice tone="good" title="The books are right">
          {count(accounts)} accounts were added up anew, their sum is {money(sum)}, and every charge has its usage.
        </Notice>
      </div>
    );
  }
  return (
    <>
      <Notice tone="bad" title="The books are wrong">
        {count(accounts)} accounts were added up anew, their sum is {money(sum)}. Keep a backup before anything is
        changed, and look at these:
      </Notice>
      <Table
        label="What is wrong"
        rows={discrepancies}
        keyOf={({ rule, subject }) => `${rule} ${subject}`}
        columns={[
          {
            head: "What",
            cell: (one) => (
              <>
                <p>{wordsOfDiscrepancy(one)}</p>
                <p className="break-all font-mono text-muted text-xs">{one.subject}</p>
              </>
            ),
          },
          { head: "Expected", align: "right", cell: (one) => figureOf(one, one.expected) },
          { head: "Found", align: "right", cell: (one) => figureOf(one, one.found) },
        ]}
      />
    </>
  );
}
