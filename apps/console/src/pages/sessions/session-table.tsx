import type { Page, SignedInSessionRecord, SignInWay } from "@gantry/sdk";
import { type UseQueryResult, useMutation, useQueryClient } from "@tanstack/react-query";
import { Badge } from "../../ui/badge.tsx";
import { ConfirmButton } from "../../ui/dialog.tsx";
import { Moment } from "../../ui/moment.tsx";
import { Empty } from "../../ui/notice.tsx";
import { type OnPage, PagedTable } from "../../ui/paged.tsx";
import { toast } from "../../ui/toast.ts";
import { browserName } from "./browser-name.rules.ts";

const wayNames: Readonly<Record<SignInWay, string>> = {
  link: "Sign-in link",
  key: "API key",
  password: "Password",
  oidc: "Single sign-on",
};

interface SessionTableProps {
  query: UseQueryResult<Page<SignedInSessionRecord>>;
  revoke(id: string): Promise<void>;
  onPage: OnPage;
}

export function SessionTable({ query, revoke, onPage }: SessionTableProps) {
  return (
    <PagedTable
      label="Sessions"
      query={query}
      keyOf={({ id }) => id}
      onPage={onPage}
      columns={[
        {
          head: "Signed in with",
          cell: ({ signed_in_with: way, key_name, current, user_agent, last_used_at }) => (
            <div className="max-w-48 md:max-w-80">
              <p className="flex flex-wrap items-center gap-x-2 font-medium">
                {way === "key" && key_name ? `API key ${key_name}` : wayNames[way]}
                {current && <Badge tone="good">This session</Badge>}
              </p>
              {user_agent && (
                <p className="truncate text-muted text-xs" title={user_agent}>
                  {browserName(user_agent)}
                </p>
              )}
              <p className="text-muted text-xs md:hidden">
                Last used: <LastUse at={last_used_at} />
              </p>
            </div>
          ),
        },
        { head: "Address", wide: true, cell: ({ address }) => address ?? "Unknown" },
        { head: "Created", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
        { head: "Last used", wide: true, cell: ({ last_used_at }) => <LastUse at={last_used_at} /> },
        { head: "Ends", wide: true, cell: ({ expires_at }) => <Moment at={expires_at} /> },
        {
          head: "Actions",
          align: "right",
          cell: (session) => !session.current && <EndSession session={session} revoke={revoke} />,
        },
      ]}
      empty={<Empty title="No sessions">No browser is signed in to the console.</Empty>}
    />
  );
}

function LastUse({ at }: { at: string | null }) {
  return at === null ? "never" : <Moment at={at} />;
}

function EndSession({ session, revoke }: { session: SignedInSessionRecord } & Pick<SessionTableProps, "revoke">) {
  const queries = useQueryClient();
  const ending = useMutation({
    mutationFn: () => revoke(session.id),
    async onSuccess() {
      toast("Session ended");
      await queries.invalidateQueries({ queryKey: ["sessions"] });
    },
  });
  return (
    <ConfirmButton
      label="End"
      subject={`session ${session.id}`}
      quiet
      question="End this session?"
      explanation="The browser has to sign in again. Runs that it started go on."
      onConfirm={() => ending.mutateAsync()}
    />
  );
}
