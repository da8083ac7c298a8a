import type { PlanRecord } from "@gantry/sdk";
import { keepPreviousData, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Plus } from "lucide-react";
import { api } from "../../api/client.ts";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { count } from "../../ui/format.ts";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { PagedTable } from "../../ui/paged.tsx";
import type { Column } from "../../ui/table.tsx";
import { toast } from "../../ui/toast.ts";
import { OnlyAdmins } from "./only-admins.tsx";
import { limitsText, quotaLabel } from "./plan-limits.rules.ts";
import { PutPlan } from "./put-plan.tsx";

const title = "Plans";
/** The API refuses to delete these. */
const builtIn = ["free", "pro", "unlimited"];

export function PlansPage() {
  return (
    <OnlyAdmins title={title}>
      <Plans />
    </OnlyAdmins>
  );
}

const limit = (n: number | null) => (n === null ? <span className="text-muted">Unlimited</span> : count(n));

const columns: readonly Column<PlanRecord>[] = [
  {
    head: "Plan",
    cell: (plan) => (
      <>
        <code className="break-all">{plan.name}</code>
        <p className="text-muted text-xs md:hidden">{limitsText(plan)}</p>
      </>
    ),
  },
  {
    head: "Requests per minute",
    align: "right",
    wide: true,
    cell: ({ requests_per_minute }) => limit(requests_per_minute),
  },
  { head: "Concurrent", align: "right", wide: true, cell: ({ parallel }) => limit(parallel) },
  { head: "Storage", align: "right", wide: true, cell: ({ storage_bytes }) => quotaLabel(storage_bytes) },
  { head: "Users", align: "right", wide: true, cell: ({ users }) => count(users) },
  {
    head: "Actions",
    align: "right",
    cell: (plan) => (
      <div className="flex justify-end">
        <PutPlan label="Edit" plan={plan} />
        {!builtIn.includes(plan.name) && plan.users === 0 && <DeletePlan name={plan.name} />}
      </div>
    ),
  },
];

function Plans() {
  const { page = 1 } = useSearch({ from: "/app/admin/plans" });
  const navigate = useNavigate();
  const plans = useQuery({
    queryKey: ["admin", "plans", { page }],
    queryFn: ({ signal }) => api.admin.plans.list({ page, signal }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title={title}
      lead="Rate limits per user, across all servers. Built-in plans and plans in use can't be deleted."
      actions={<PutPlan label="New plan" icon={<Plus size={14} />} />}
    >
      <Panel flush>
        <PagedTable
          label={title}
          query={plans}
          columns={columns}
          keyOf={({ name }) => name}
          onPage={(to, how) => void navigate({ to: "/admin/plans", search: { page: to }, ...how })}
          empty={<Empty title="No plans" />}
        />
      </Panel>
    </Page>
  );
}

function DeletePlan({ name }: { name: string }) {
  const queries = useQueryClient();
  const deleting = useMutation({
    mutationFn: () => api.admin.plans.delete(name),
    async onSuccess() {
      toast(`Plan ${name} deleted`);
      await queries.invalidateQueries({ queryKey: ["admin"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      quiet
      question={`Delete plan ${name}?`}
      explanation="No user has this plan."
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
