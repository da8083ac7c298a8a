import type { IdpActionRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useSession } from "../../shell/session.ts";
import { Empty, Loaded, Notice } from "../../ui/notice.tsx";
import { Page, Panel } from "../../ui/page.tsx";
import { AboutAction } from "./about-action.tsx";
import { describedAction } from "./action-list.rules.ts";
import { ActionNotices } from "./action-notices.tsx";
import { ActionRunner } from "./action-runner.tsx";
import { actionsQuery, connectorQuery } from "./identity-queries.ts";

export function IdentityActionPage() {
  const { action: name } = useParams({ from: "/app/identity/$action" });
  const actions = useQuery(actionsQuery);
  const action = actions.data?.find((candidate) => candidate.name === name);
  return (
    <Page
      title={name}
      lead={
        <>
          <Link to="/identity" className="text-accent hover:underline">
            All actions
          </Link>
          {action && <span className="block break-words">{describedAction(action.description).summary}</span>}
        </>
      }
    >
      <Loaded query={actions}>
        {() =>
          action ? (
            <Action key={name} action={action} />
          ) : (
            <Panel>
              <Empty title="Action not found" />
            </Panel>
          )
        }
      </Loaded>
    </Page>
  );
}

function Action({ action }: { action: IdpActionRecord }) {
  const connector = useQuery(connectorQuery);
  const { key } = useSession();
  return (
    <>
      <ActionNotices action={action} isConnected={connector.data !== null} />
      <div className="grid items-start gap-5 lg:grid-cols-3">
        <div className="flex min-w-0 flex-col gap-5 lg:col-span-2">
          {key.isPlainMember ? (
            <Notice>Only admins and owners of the team can run actions here.</Notice>
          ) : (
            <ActionRunner action={action} isConnected={Boolean(connector.data)} />
          )}
        </div>
        <AboutAction action={action} domain={connector.data?.domain} />
      </div>
    </>
  );
}
