import type { AuditRecord } from "@gantry/sdk";
import { Copyable } from "../../ui/copyable.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { time } from "../../ui/format.ts";

/** One record with the fields that changed. */
export function AuditDialog({ record, onClose }: { record: AuditRecord; onClose(): void }) {
  const { seq, action, actor, origin, object, owner, created_at, hash } = record;
  return (
    <Dialog open wide onClose={onClose} title={action} description={`Record ${seq}`}>
      <div className="flex flex-col gap-5">
        <Changes record={record} />
        <Facts
          facts={[
            ["When", time(created_at)],
            ["Who", actor.username ?? actor.type],
            ["With", actor.key_id && `${actor.session ? "console session" : "key"} ${actor.key_id}`],
            ["Address", origin?.address],
            ["Client", origin?.user_agent],
            ["Request", origin?.request_id],
            ["Object", `${object.type} ${object.id}`],
            ["Owner", owner?.username ?? "the installation"],
            ["Hash", <Copyable key="hash" text={hash} />],
          ]}
        />
      </div>
    </Dialog>
  );
}

function Changes({ record: { before, after } }: { record: AuditRecord }) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  if (names.length === 0) return <p className="text-muted">No fields were recorded.</p>;
  return (
    <table className="w-full border-collapse text-left" aria-label="Changes">
      <thead>
        <tr className="border-line border-b text-muted text-xs">
          {["Field", "Before", "After"].map((head) => (
            <th key={head} scope="col" className="py-1 pr-3 font-medium">
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {names.map((name) => (
          <tr key={name} className="border-line border-b align-top last:border-b-0">
            <td className="py-1 pr-3">{name}</td>
            <td className="wrap-anywhere py-1 pr-3">{shown(before?.[name])}</td>
            <td className="wrap-anywhere py-1">{shown(after?.[name])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function shown(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
