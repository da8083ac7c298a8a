import type { ReactNode } from "react";
import { useSession } from "../../shell/session.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";

/** A page for admins; whoever came to its address otherwise is told so, and nothing is asked of the service. */
export function OnlyAdmins({ title, children }: { title: string; children: ReactNode }) {
  const { role, username } = useSession();
  if (role === "admin") return children;
  return (
    <Page title={title}>
      <Notice tone="warn" title="This page is for admins">
        You are signed in as {username}, who is not one. An admin can make you one.
      </Notice>
    </Page>
  );
}
