import type { RevisionEntry } from "@gantry/sdk";
import { useState } from "react";
import { Select } from "../../../ui/field.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Changes } from "../publish-dialog.tsx";

interface CompareRevisionsProps {
  agentId: string;
  /** Newest first. */
  revisions: readonly RevisionEntry[];
  /** Compared with its predecessor at first. */
  newer: string;
}

export function CompareRevisions({ agentId, revisions, newer }: CompareRevisionsProps) {
  const before = revisions[revisions.findIndex(({ id }) => id === newer) + 1]?.id;
  const [from, setFrom] = useState(before ?? "");
  const [to, setTo] = useState(newer);
  const options = revisions.map(({ id, number, status }) => (
    <option key={id} value={id}>
      Revision {number}
      {status === "published" ? " (published)" : ""}
    </option>
  ));
  return (
    <Panel title="Changes" className="lg:col-span-2">
      <div className="flex flex-col gap-4">
        <div className="grid grid-cols-[auto_1fr] items-center gap-2">
          <span className="text-muted">From</span>
          <Select aria-label="From" value={from} onChange={(event) => setFrom(event.target.value)}>
            {before === undefined && <option value="">None</option>}
            {options}
          </Select>
          <span className="text-muted">To</span>
          <Select aria-label="To" value={to} onChange={(event) => setTo(event.target.value)}>
            {options}
          </Select>
        </div>
        <Changes agentId={agentId} revisionId={to} {...(from !== "" && { against: from })} />
      </div>
    </Panel>
  );
}
