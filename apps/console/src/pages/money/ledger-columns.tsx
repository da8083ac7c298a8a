import type { LedgerEntryRecord } from "@gantry/sdk";
import { money } from "../../ui/format.ts";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import type { Column } from "../../ui/table.tsx";
import { linkOfTransaction, transactionText } from "./transaction.rules.ts";

/** `own`: the ledger of the signed-in user, with links to predictions and runs. */
export function ledgerColumns({ own }: { own: boolean }): readonly Column<LedgerEntryRecord>[] {
  return [
    { head: "Transaction", cell: (entry) => <Entry entry={entry} own={own} /> },
    { head: "Date", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
    {
      head: "Amount",
      align: "right",
      cell: ({ amount }) => (
        <span className={`whitespace-nowrap ${amount > 0 ? "text-good" : ""}`}>
          {amount > 0 && "+"}
          {money(amount)}
        </span>
      ),
    },
  ];
}

function Entry({ entry, own }: { entry: LedgerEntryRecord; own: boolean }) {
  return (
    <>
      <EntryName entry={entry} own={own} />
      <p className="text-muted text-xs md:hidden">
        <Moment at={entry.created_at} />
      </p>
      {entry.reason && <p className="wrap-anywhere max-w-prose text-muted text-xs">{entry.reason}</p>}
      {entry.reference && <p className="break-all font-mono text-muted text-xs">{entry.reference}</p>}
    </>
  );
}

/** The whole row leads to the prediction or run. */
function EntryName({ entry, own }: { entry: LedgerEntryRecord; own: boolean }) {
  const text = transactionText(entry);
  const link = own ? linkOfTransaction(entry) : undefined;
  if (!link) return <p>{text}</p>;
  return "run" in link ? (
    <RowLink to="/runs/$runId" params={{ runId: link.run }} className="break-all">
      {text}
    </RowLink>
  ) : (
    <RowLink to="/predictions/$id" params={{ id: link.prediction }} className="break-all">
      {text}
    </RowLink>
  );
}
