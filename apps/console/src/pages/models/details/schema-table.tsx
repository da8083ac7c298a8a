import type { ObjectSchema } from "@gantry/sdk";
import { Badge } from "../../../ui/badge.tsx";
import { Empty } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import type { FieldRow } from "../../../ui/schema-text.rules.ts";
import { type Column, Table } from "../../../ui/table.tsx";
import { groupedRows } from "./schema-rows.rules.ts";

interface SchemaTableProps {
  title: string;
  schema: ObjectSchema;
  hasDefaults?: boolean;
}

export function SchemaTable({ title, schema, hasDefaults = false }: SchemaTableProps) {
  return (
    <Panel title={title} flush>
      <Table
        label={title}
        rows={groupedRows(schema)}
        keyOf={({ name }) => name}
        empty={<Empty title="No fields" />}
        columns={[
          {
            head: "Field",
            cell: ({ name, isRequired }) => (
              <span className="flex flex-wrap items-center gap-1.5">
                <code>{name}</code>
                {isRequired && <Badge tone="info">Required</Badge>}
              </span>
            ),
          },
          {
            head: "Type",
            cell: ({ kind, description }) => (
              <div className="wrap-anywhere min-w-32 max-w-prose">
                {kind}
                {description && <p className="text-muted text-xs">{description}</p>}
              </div>
            ),
          },
          ...(hasDefaults ? [defaultColumn] : []),
        ]}
      />
    </Panel>
  );
}

const defaultColumn: Column<FieldRow> = {
  head: "Default",
  wide: true,
  cell: ({ initial }) =>
    initial === undefined ? <span className="text-muted">None</span> : <Initial text={initial} />,
};

function Initial({ text }: { text: string }) {
  return (
    <code className="line-clamp-3 max-w-60 break-words text-xs" title={text}>
      {text}
    </code>
  );
}
