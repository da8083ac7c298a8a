import type { InboxConfirmation } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Hand } from "lucide-react";
import { buttonClass } from "../../ui/button.tsx";
import { TextLink } from "../../ui/link.tsx";
import { Moment } from "../../ui/moment.tsx";
import { pendingApprovalsQuery } from "./approvals-query.ts";

const shownAtOnce = 3;

/** Questions that runs wait for, with the shortest way to each. Empty if no run asks. */
export function PendingApprovals() {
  const { data } = useQuery({ ...pendingApprovalsQuery, enabled: false });
  if (!data || data.results.length === 0) return null;
  const { results, total_count } = data;
  return (
    <section aria-label="Pending approvals" className="rounded-lg border border-warn/50 bg-panel">
      <header className="flex flex-wrap items-center justify-between gap-2 rounded-t-lg border-warn/40 border-b bg-warn-soft px-4 py-2.5">
        <h2 className="flex items-center gap-2 font-semibold">
          <Hand size={15} />
          {total_count === 1 ? "1 tool call needs your approval" : `${total_count} tool calls need your approval`}
        </h2>
        {total_count > shownAtOnce && <TextLink to="/approvals">View all</TextLink>}
      </header>
      <ul className="divide-y divide-line">
        {results.slice(0, shownAtOnce).map((asked) => (
          <Asked key={asked.id} asked={asked} />
        ))}
      </ul>
    </section>
  );
}

function Asked({ asked: { tool, agent, root_run_id, created_at, arguments: given } }: { asked: InboxConfirmation }) {
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 px-4 py-2.5">
      <div className="min-w-0 flex-1 basis-56">
        <p className="break-words">
          <span className="font-medium">{agent.name}</span> wants to call <code>{tool}</code>
        </p>
        <p className="truncate text-muted text-xs">
          <Moment at={created_at} /> · <code>{JSON.stringify(given)}</code>
        </p>
      </div>
      <Link to="/runs/$runId" params={{ runId: root_run_id }} className={buttonClass()}>
        Review<span className="sr-only"> {tool}</span>
      </Link>
    </li>
  );
}
