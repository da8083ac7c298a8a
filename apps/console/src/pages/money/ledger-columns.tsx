import type { LedgerEntryRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import type { Column } from "../../ui/table.tsx";
import { PredictionLink } from "../usage/prediction-link.tsx";
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
      <p>{transactionText(entry)}</p>
      <p className="text-muted text-xs md:hidden">
        <Moment at={entry.created_at} />
      </p>
      {entry.reason && <p className="wrap-anywhere max-w-prose text-muted text-xs">{entry.reason}</p>}
      {entry.reference && (
        <p className="break-all text-xs">
          <Reference entry={entry} own={own} />
        </p>
      )}
    </>
  );
}

function Reference({ entry, own }: { entry: LedgerEntryRecord; own: boolean }) {
  const link = own ? linkOfTransaction(entry) : undefined;
  if (!link) return <code className="text-muted">{entry.reference}</code>;
  if ("run" in link) {
    return (
      <Link to="/runs/$runId" params={{ runId: link.run }} className="font-mono text-accent hover:underline">
        {link.run}
      </Link>
    );
  }
  return <PredictionLink id={link.prediction} at={entry.created_at} />;
}
