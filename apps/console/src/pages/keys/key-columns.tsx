import type { KeyRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { RowLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import type { Column } from "../../ui/table.tsx";
import { EditKey } from "./edit-key.tsx";
import { KeySpending } from "./key-spending.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

const isPast = (moment: string | null): boolean => moment !== null && new Date(moment).getTime() <= Date.now();

function Name({ apiKey: { id, name, public: shown, expires_at, connected_app: app } }: { apiKey: KeyRecord }) {
  return (
    <div className="max-w-36 md:max-w-60">
      <RowLink
        to="/keys"
        search={(before) => ({ ...before, key: id })}
        className="block truncate"
        title={name || undefined}
      >
        {name || "Unnamed"}
      </RowLink>
      <p className="flex flex-wrap items-center gap-x-2">
        {app ? (
          <span className="truncate text-muted text-xs" title={`${app.name} (${app.host})`}>
            {app.host}
          </span>
        ) : (
          <code className="text-muted text-xs">{shown}</code>
        )}
        {app && <Badge tone="info">Connected app</Badge>}
        {isPast(expires_at) && <Badge tone="bad">Expired</Badge>}
      </p>
    </div>
  );
}

function Access({ apiKey: { models } }: { apiKey: KeyRecord }) {
  const [first, ...more] = models ?? [];
  return (
    <div title={models?.join("\n")}>
      {models === null ? (
        "Full access"
      ) : (
        <p>
          <code className="text-xs">{first}</code>
          {more.length > 0 && <span className="whitespace-nowrap text-muted"> and {more.length} more</span>}
        </p>
      )}
    </div>
  );
}

/** What an admin sees of a user's key too. */
export const keyFacts: readonly Column<KeyRecord>[] = [
  { head: "Access", wide: true, cell: (key) => <Access apiKey={key} /> },
  { head: "Limits", wide: true, cell: (key) => <KeySpending apiKey={key} /> },
  { head: "Last used", wide: true, cell: (key) => <Moment at={key.last_used_at} /> },
  { head: "Expires", wide: true, cell: (key) => <Moment at={key.expires_at} /> },
];

export const keyColumns: readonly Column<KeyRecord>[] = [
  { head: "Key", cell: (key) => <Name apiKey={key} /> },
  ...keyFacts,
  {
    head: "Actions",
    align: "right",
    cell: (key) => (
      <div className="flex flex-wrap justify-end sm:flex-nowrap">
        <EditKey apiKey={key} />
        {!isPast(key.expires_at) && !key.connected_app && <RotateKey apiKey={key} />}
        <RevokeKey apiKey={key} />
      </div>
    ),
  },
];
