import { CodeBlock } from "../../ui/code.tsx";
import { Facts } from "../../ui/facts.tsx";
import { pretty } from "../../ui/json.rules.ts";
import { Notice } from "../../ui/notice.tsx";
import { Table } from "../../ui/table.tsx";
import type { WritePreview as Preview } from "./write-preview.rules.ts";

export function WritePreview({ preview }: { preview: Preview }) {
  const { description, tenant, method, path, body, changes, warnings } = preview;
  return (
    <div className="flex flex-col gap-3">
      {description && <p>{description}</p>}
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn" title={warning} />
      ))}
      <Facts
        facts={[
          [
            "Tenant",
            <span key="tenant" className="break-all font-medium">
              {tenant}
            </span>,
          ],
          [
            "Request",
            <code key="request" className="break-all">
              {method} {path}
            </code>,
          ],
        ]}
      />
      {changes && <Changes changes={changes} />}
      {body !== undefined && <CodeBlock wrap label="Body" text={pretty(body)} />}
    </div>
  );
}

function Changes({ changes }: { changes: NonNullable<Preview["changes"]> }) {
  return (
    <div className="rounded-md border border-line">
      <Table
        label="Changes"
        rows={changes}
        keyOf={({ field }) => field}
        columns={[
          { head: "Field", cell: ({ field }) => <code className="break-all">{field}</code> },
          {
            head: "Current value",
            cell: ({ old }) => <span className="whitespace-pre-wrap break-words text-muted">{old ?? "Not set"}</span>,
          },
          { head: "New value", cell: (row) => <span className="whitespace-pre-wrap break-words">{row.new}</span> },
        ]}
        empty={<p className="p-3">No changes: the tenant already has these values.</p>}
      />
    </div>
  );
}
