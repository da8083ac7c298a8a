import type { ReactNode } from "react";
import { useSession } from "../../shell/session.ts";
import { Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";

/** Other users see a notice, and the page sends no requests. */
export function OnlyAdmins({ title, children }: { title: string; children: ReactNode }) {
  const { role, username } = useSession();
  if (role === "admin") return children;
  return (
    <Page title={title}>
      <Notice tone="warn" title="Admins only">
        You're signed in as {username}, who is not an admin. Ask an admin for access.
      </Notice>
    </Page>
  );
}
