import type { NoticeRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { CircleDollarSign, X } from "lucide-react";
import { api } from "../../api/client.ts";
import { useConsoleStatus } from "../../shell/console-status.ts";
import { mayOpen } from "../../shell/key-access.rules.ts";
import { useSession } from "../../shell/session.ts";
import { TextLink } from "../../ui/link.tsx";
import { noticesKey, openNoticesQuery } from "./notices-query.ts";

/** Above every page: which money runs low, and what to do. */
export function MoneyNotices() {
  const { key } = useSession();
  const isActive = useConsoleStatus().session === "active";
  const { data } = useQuery({ ...openNoticesQuery, enabled: isActive && mayOpen(key, "unconfined keys") });
  if (!data || data.results.length === 0) return null;
  const more = data.total_count - data.results.length;
  return (
    <section aria-label="Notices" className="border-line border-b bg-warn-soft">
      <ul>
        {data.results.map((notice) => (
          <Notice key={notice.id} notice={notice} />
        ))}
      </ul>
      {more > 0 && <p className="px-4 pb-2 text-muted md:px-8">{`And ${more.toLocaleString("en-US")} more.`}</p>}
    </section>
  );
}

function Notice({ notice }: { notice: NoticeRecord }) {
  const queries = useQueryClient();
  const dismissing = useMutation({
    mutationFn: () => api.account.notices.dismiss(notice.id),
    onSuccess: () => queries.invalidateQueries({ queryKey: noticesKey }),
  });
  return (
    <li className="flex items-start gap-2.5 px-4 py-2 md:px-8">
      <CircleDollarSign size={16} className="mt-0.5 shrink-0 text-warn" />
      <p className="min-w-0 flex-1 break-words">
        {notice.message} <NextStep notice={notice} />
      </p>
      <button
        type="button"
        aria-label={`Dismiss: ${notice.message}`}
        title="Dismiss"
        disabled={dismissing.isPending}
        className="shrink-0 rounded p-1 text-muted hover:bg-sunken hover:text-ink"
        onClick={() => dismissing.mutate()}
      >
        <X size={14} />
      </button>
    </li>
  );
}

function NextStep({ notice: { kind, key: budget, owner } }: { notice: NoticeRecord }) {
  const { key, role } = useSession();
  if (kind === "balance_low") {
    if (role !== "admin") return "Ask an admin to add credit.";
    return (
      <TextLink to="/admin/users/$username" params={{ username: owner }}>
        Add credit
      </TextLink>
    );
  }
  if (!budget?.seat) return mayOpen(key, "unlimited keys") && <TextLink to="/keys">Change the budget</TextLink>;
  if (!mayOpen(key, "managers")) return "Ask an admin of the team for a higher budget.";
  return (
    <TextLink to="/teams/$team" params={{ team: owner }}>
      Change the budget
    </TextLink>
  );
}
