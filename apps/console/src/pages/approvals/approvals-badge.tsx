import { useQuery } from "@tanstack/react-query";
import { pendingApprovalsQuery } from "./approvals-query.ts";

/** How many questions wait for an answer, in the sidebar. */
export function ApprovalsBadge() {
  const { data: total } = useQuery({
    ...pendingApprovalsQuery,
    // The watch reads; the badge only shows.
    enabled: false,
    select: ({ total_count }) => total_count,
  });
  if (!total) return null;
  return (
    <span className="ml-auto min-w-5 rounded-full bg-accent px-1.5 text-center font-medium text-accent-ink text-xs leading-5 tabular-nums">
      {total > 99 ? "99+" : total}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
