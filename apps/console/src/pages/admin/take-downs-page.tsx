import type { TakeDownRecord } from "@gantry/sdk";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Badge } from "../../ui/badge.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.ts";
import { OnlyAdmins } from "./only-admins.tsx";

const title = "Take-downs";

export function TakeDownsPage() {
  return (
    <OnlyAdmins title={title}>
      <TakeDowns />
    </OnlyAdmins>
  );
}

const columns: readonly Column<TakeDownRecord>[] = [
  {
    head: "Agent or model",
    cell: ({ kind, id, name }) => (
      <div className="min-w-32 wrap-anywhere">
        <Badge>{kind}</Badge> {name}
        <p className="text-muted text-xs">
          <code>{id}</code>
        </p>
      </div>
    ),
  },
  { head: "Owner", wide: true, cell: ({ owner }) => owner },
  { head: "Reason", cell: ({ taken_down }) => <span className="wrap-anywhere">{taken_down?.reason}</span> },
  { head: "Since", wide: true, cell: ({ taken_down }) => taken_down && <Moment at={taken_down.at} /> },
  { head: "Actions", align: "right", cell: (record) => <Restore record={record} /> },
];

function TakeDowns() {
  const { page = 1 } = useSearch({ from: "/app/admin/take-downs" });
  const navigate = useNavigate();
  const takeDowns = useQuery({
    queryKey: ["admin", "take-downs", { page }],
    queryFn: ({ signal }) => api.admin.takeDowns.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={title}
      lead="Agents and models that an admin has hidden from everyone but their owner. To take one down, open its page in the marketplace or under Models."
    >
      <Panel flush>
        <PagedTable
          label={title}
          query={takeDowns}
          columns={columns}
          keyOf={({ id }) => id}
          onPage={(to, how) => void navigate({ to: "/admin/take-downs", search: { page: to }, ...how })}
          empty={<Empty title="No take-downs" />}
        />
      </Panel>
    </Page>
  );
}

function Restore({ record: { kind, id, name } }: { record: TakeDownRecord }) {
  const queries = useQueryClient();
  const restoring = useMutation({
    mutationFn: () => (kind === "agent" ? api.admin.takeDowns.restoreAgent(id) : api.admin.takeDowns.restoreModel(id)),
    async onSuccess() {
      toast(`${name} restored`);
      await queries.invalidateQueries();
    },
  });
  return (
    <ConfirmButton
      label="Restore"
      quiet
      question={`Restore ${name}?`}
      explanation="Its earlier visibility applies again."
      onConfirm={() => restoring.mutateAsync()}
    />
  );
}
