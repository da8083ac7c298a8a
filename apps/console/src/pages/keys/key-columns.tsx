import type { KeyRecord } from "@gantry/sdk";
import { Badge } from "../../ui/badge.tsx";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import type { Column } from "../../ui/table.tsx";
import { RevokeKey } from "./revoke-key.tsx";
import { RotateKey } from "./rotate-key.tsx";

const isPast = (moment: string | null): boolean => moment !== null && new Date(moment).getTime() <= Date.now();

function Name({ apiKey: { name, public: shown, expires_at } }: { apiKey: KeyRecord }) {
  return (
    <div className="max-w-36 md:max-w-60">
      <p className="truncate font-medium" title={name}>
        {name || <span className="text-muted">Unnamed</span>}
      </p>
      <p className="flex flex-wrap items-center gap-x-2">
        <code className="text-muted text-xs">{shown}</code>
        {isPast(expires_at) && <Badge tone="bad">Expired</Badge>}
      </p>
    </div>
  );
}

function Access({ apiKey: { models, monthly_limit } }: { apiKey: KeyRecord }) {
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
      {monthly_limit !== null && <p className="text-muted text-xs">Max {money(monthly_limit)} per month</p>}
    </div>
  );
}

export const keyColumns: readonly Column<KeyRecord>[] = [
  { head: "Key", cell: (key) => <Name apiKey={key} /> },
  { head: "Access", wide: true, cell: (key) => <Access apiKey={key} /> },
  { head: "Last used", wide: true, cell: (key) => <Moment at={key.last_used_at} /> },
  { head: "Expires", wide: true, cell: (key) => <Moment at={key.expires_at} /> },
  {
    head: "Actions",
    align: "right",
    cell: (key) => (
      <div className="flex flex-wrap justify-end sm:flex-nowrap">
        {!isPast(key.expires_at) && <RotateKey apiKey={key} />}
        <RevokeKey apiKey={key} />
      </div>
    ),
  },
];
