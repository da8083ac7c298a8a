import type { InboxConfirmation } from "@gantry/sdk";
import { focusManager, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { useConsoleStatus } from "../../shell/console-status.ts";
import { showTitleCount } from "../../ui/document-title.ts";
import { announcement, newlyAsked } from "./approvals.rules.ts";
import { pendingApprovalsQuery } from "./approvals-query.ts";
import { notify } from "./notifications.ts";

const everyMs = 10_000;

/** Call once, in the frame of the console: one reader for the badge, the title, the inbox and notifications. */
export function useApprovalsWatch(): void {
  const isActive = useConsoleStatus().session === "active";
  const { data, refetch } = useQuery({ ...pendingApprovalsQuery, enabled: isActive });
  useEffect(() => {
    if (!isActive) return;
    // Also in a hidden tab, but not below a dialog that shows a secret, which pauses all reads.
    const timer = setInterval(() => {
      if (document.hidden || focusManager.isFocused()) void refetch();
    }, everyMs);
    return () => clearInterval(timer);
  }, [isActive, refetch]);

  const total = data?.total_count ?? 0;
  useEffect(() => {
    showTitleCount(total);
    return () => showTitleCount(0);
  }, [total]);

  const navigate = useNavigate();
  const before = useRef<readonly InboxConfirmation[]>(undefined);
  useEffect(() => {
    if (!data) return;
    const asked = newlyAsked(before.current, data.results);
    before.current = data.results;
    const told = announcement(asked);
    if (!told || document.hasFocus()) return;
    notify(told.title, {
      ...told,
      tag: asked.map(({ id }) => id).join(),
      onOpen: () => void navigate({ to: "/approvals" }),
    });
  }, [data, navigate]);
}
