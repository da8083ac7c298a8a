import type { UserRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { Figure } from "../../ui/figure.tsx";
import { money } from "../../ui/format.ts";
import { Moment } from "../../ui/moment.tsx";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page } from "../../ui/page.tsx";
import { NewKey } from "../keys/new-key.tsx";
import { OnlyAdmins } from "./only-admins.tsx";
import { UserAccount } from "./user-account.tsx";
import { UserBadges } from "./user-badges.tsx";
import { UserKeys } from "./user-keys.tsx";
import { UserLedger } from "./user-ledger.tsx";
import { UserMoney } from "./user-money.tsx";
import { userQuery } from "./user-query.ts";
import { UserSessions } from "./user-sessions.tsx";
import { UserUsage } from "./user-usage.tsx";

export function UserPage() {
  const { username } = useParams({ from: "/app/admin/users/$username" });
  return (
    <OnlyAdmins title={username}>
      <User key={username} username={username} />
    </OnlyAdmins>
  );
}

function User({ username }: { username: string }) {
  const user = useQuery(userQuery(username));
  return (
    <Page
      title={username}
      lead={
        <Link to="/admin/users" className="text-accent hover:underline">
          All users
        </Link>
      }
      actions={
        user.data && (
          <>
            <UserBadges user={user.data} />
            {/* Members create the keys of a team. */}
            {user.data.kind === "person" && (
              <NewKey
                label="Create key"
                kind="plain"
                owner={username}
                create={(key) => api.admin.users.createKey(username, key)}
              />
            )}
          </>
        )
      }
    >
      <Loaded query={user}>
        {(data) =>
          data ? <Known user={data} /> : <Empty title={`User ${username} not found`}>Usernames are lowercase.</Empty>
        }
      </Loaded>
    </Page>
  );
}

function Known({ user }: { user: UserRecord }) {
  return (
    <>
      {user.deletion_requested_at !== null && (
        <Notice tone="warn" title={`${user.username} is being deleted`}>
          Their keys are blocked. The account disappears from the lists when work of others on its agents and models has
          ended.
        </Notice>
      )}
      {user.disabled && user.deletion_requested_at === null && (
        <Notice tone="warn" title={`${user.username} is disabled`}>
          Their keys are blocked, and their models and agents are hidden.
        </Notice>
      )}
      <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
        <Figure name="Balance" value={money(user.balance)} />
        <Figure name="On hold" value={money(user.reserved)} />
        <Figure name="Plan" value={user.plan} />
        <Figure
          name="Created"
          value={new Date(user.created_at).toLocaleDateString("en-GB", { month: "short", year: "numeric" })}
          note={<Moment at={user.created_at} />}
        />
      </dl>
      <div className="grid items-start gap-5 lg:grid-cols-2">
        <UserMoney user={user} />
        {user.deletion_requested_at === null && <UserAccount user={user} />}
      </div>
      <UserUsage username={user.username} />
      <UserKeys username={user.username} />
      {user.kind === "person" && <UserSessions username={user.username} />}
      <UserLedger username={user.username} />
    </>
  );
}
