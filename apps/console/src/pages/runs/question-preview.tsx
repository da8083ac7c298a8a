import type { ConfirmationRecord } from "@gantry/sdk";
import { CodeBlock } from "../../ui/code.tsx";
import { Notice } from "../../ui/notice.tsx";
import { pretty } from "../agents/json.rules.ts";
import type { WritePreview } from "./preview.rules.ts";

interface QuestionPreviewProps {
  asked: ConfirmationRecord;
  preview: WritePreview | undefined;
}

export function QuestionPreview({ asked, preview }: QuestionPreviewProps) {
  if (!preview) {
    return (
      <>
        <CodeBlock wrap label="Arguments" text={pretty(asked.arguments)} />
        {asked.details && <CodeBlock wrap label="What follows from it" text={pretty(asked.details)} />}
      </>
    );
  }
  const { description, tenant, method, path, body, changes, warnings } = preview;
  return (
    <>
      {description && <p>{description}</p>}
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <dt className="text-muted">Tenant</dt>
        <dd className="break-all font-medium">{tenant}</dd>
        <dt className="text-muted">Request</dt>
        <dd className="break-all">
          <code>
            {method} {path}
          </code>
        </dd>
      </dl>
      {warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          {warning}
        </Notice>
      ))}
      {changes.length > 0 && <ChangeTable changes={changes} />}
      {body !== null && body !== undefined && <CodeBlock wrap label="What would be sent" text={pretty(body)} />}
    </>
  );
}

function ChangeTable({ changes }: Pick<WritePreview, "changes">) {
  return (
    <div className="overflow-x-auto rounded-md border border-line">
      <table className="w-full" aria-label="What would change">
        <thead>
          <tr className="border-line border-b text-left text-muted text-xs">
            <th scope="col" className="px-3 py-1.5 font-medium">
              Field
            </th>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Now
            </th>
            <th scope="col" className="px-3 py-1.5 font-medium">
              Then
            </th>
          </tr>
        </thead>
        <tbody>
          {changes.map(({ field, old, new: next }) => (
            <tr key={field} className="border-line border-b align-top last:border-b-0">
              <td className="px-3 py-1.5">
                <code>{field}</code>
              </td>
              <td className="break-words px-3 py-1.5 text-bad">{old ?? <span className="text-muted">not set</span>}</td>
              <td className="break-words px-3 py-1.5 text-good">{next}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
