import type { LedgerEntryRecord } from "@gantry/sdk";
import { Link } from "@tanstack/react-router";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import type { Column } from "../../ui/table.tsx";
import { PredictionLink } from "../usage/prediction-link.tsx";
import { placeOfMovement, wordsOfMovement } from "./movement.rules.ts";

/** `own`: of the one who looks, who can also look at what was paid. */
export function ledgerColumns({ own }: { own: boolean }): readonly Column<LedgerEntryRecord>[] {
  return [
    { head: "What", cell: (entry) => <What entry={entry} own={own} /> },
    { head: "When", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
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

function What({ entry, own }: { entry: LedgerEntryRecord; own: boolean }) {
  return (
    <>
      <p>{wordsOfMovement(entry)}</p>
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
  const place = own ? placeOfMovement(entry) : undefined;
  if (!place) return <code className="text-muted">{entry.reference}</code>;
  if ("run" in place) {
    return (
      <Link to="/runs/$runId" params={{ runId: place.run }} className="font-mono text-accent hover:underline">
        {place.run}
      </Link>
    );
  }
  return <PredictionLink id={place.prediction} at={entry.created_at} />;
}
