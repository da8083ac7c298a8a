import type { ConfirmationStatus, InboxConfirmation } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Empty } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { Paged } from "../../ui/paged.tsx";
import { Tabs } from "../../ui/tabs.tsx";
import { Confirmation } from "../runs/confirmation.tsx";
import { AnsweredTable } from "./answered-table.tsx";
import { approvalsQuery, pendingApprovalsQuery } from "./approvals-query.ts";
import { NotifyButton } from "./notify-button.tsx";

const labels = [
  ["pending", "Pending"],
  ["approved", "Approved"],
  ["denied", "Denied"],
  ["expired", "Expired"],
] as const satisfies readonly [ConfirmationStatus, string][];

export function ApprovalsPage() {
  const { status = "pending" } = useSearch({ from: "/app/approvals" });
  const navigate = useNavigate({ from: "/approvals" });
  const { data } = useQuery({ ...pendingApprovalsQuery, enabled: false });
  const pending = data?.total_count ?? 0;
  return (
    <Page
      title="Approvals"
      lead="Tool calls that your agents make only after you approve them."
      actions={<NotifyButton />}
    >
      <Tabs
        value={status}
        onValue={(value) =>
          void navigate({
            search: value === "pending" ? {} : { status: value as Exclude<ConfirmationStatus, "pending"> },
          })
        }
        tabs={labels.map(([value, label]) => ({
          value,
          label: value === "pending" && pending > 0 ? `${label} (${pending})` : label,
          content: value === status && <Approvals key={value} status={value} />,
        }))}
      />
    </Page>
  );
}

function Approvals({ status }: { status: ConfirmationStatus }) {
  const { page = 1 } = useSearch({ from: "/app/approvals" });
  const navigate = useNavigate({ from: "/approvals" });
  const list = useQuery(approvalsQuery(page, status));
  const paged = (children: (rows: InboxConfirmation[]) => React.ReactNode, empty: React.ReactNode) => (
    <Paged
      query={list}
      onPage={(next, how) => void navigate({ search: (before) => ({ ...before, page: next }), ...how })}
      empty={empty}
    >
      {children}
    </Paged>
  );
  if (status === "pending") {
    return paged(
      (rows) => (
        <div className="flex flex-col gap-4">
          {rows.map((asked) => (
            <Confirmation key={asked.id} runId={asked.root_run_id} confirmation={asked} inbox={asked} />
          ))}
        </div>
      ),
      <Panel>
        <Empty title="Nothing needs your answer">
          Runs that stop at a tool set to “Always ask” appear here. They wait up to 24 hours.
        </Empty>
      </Panel>,
    );
  }
  return (
    <Panel flush>
      {paged(
        (rows) => (
          <AnsweredTable rows={rows} />
        ),
        <Empty title={`No ${status} tool calls`} />,
      )}
    </Panel>
  );
}
