import { Button } from "../../ui/button.tsx";
import { CodeBlock } from "../../ui/code.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Notice } from "../../ui/notice.tsx";
import { Table } from "../../ui/table.tsx";
import type { WritePreview } from "./preview.rules.ts";

interface WriteQuestionProps {
  preview: WritePreview;
  isBusy: boolean;
  onConfirm(): void;
  onClose(): void;
}

export function WriteQuestion({ preview, isBusy, onConfirm, onClose }: WriteQuestionProps) {
  const { tenant, method, path, body, destructive, changes, warnings } = preview;
  return (
    <Dialog
      open
      wide
      // What is being sent cannot be called back.
      onClose={() => isBusy || onClose()}
      title={`Send this to ${tenant}?`}
      description="This is all that would be sent. Secrets are hidden here, not in what is sent."
    >
      <div className="flex flex-col gap-3">
        {destructive && <Notice tone="bad" title="What this takes away cannot be brought back" />}
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn" title={warning} />
        ))}
        <p className="rounded-md border border-line bg-sunken px-3 py-2">
          <code className="break-all">
            {method} {path}
          </code>
        </p>
        {changes && <Changes changes={changes} />}
        {body !== undefined && <CodeBlock label="Body" text={JSON.stringify(body, null, 2)} />}
      </div>
      <div className="mt-4 flex justify-end gap-2">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button kind={destructive ? "danger" : "primary"} busy={isBusy} onClick={onConfirm}>
          {destructive ? "Yes, for good" : "Yes, send it"}
        </Button>
      </div>
    </Dialog>
  );
}

function Changes({ changes }: { changes: NonNullable<WritePreview["changes"]> }) {
  return (
    <div className="rounded-md border border-line">
      <Table
        label="What changes"
        rows={changes}
        keyOf={({ field }) => field}
        columns={[
          { head: "Field", cell: ({ field }) => <code className="break-all">{field}</code> },
          {
            head: "Now",
            cell: ({ old }) => <span className="whitespace-pre-wrap break-words text-muted">{old ?? "not set"}</span>,
          },
          { head: "Then", cell: (row) => <span className="whitespace-pre-wrap break-words">{row.new}</span> },
        ]}
        empty={<p className="p-3">Nothing would change: the tenant has these values already.</p>}
      />
    </div>
  );
}
