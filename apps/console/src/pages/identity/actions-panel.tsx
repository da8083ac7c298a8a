import type { IdpActionRecord } from "@gantry/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { Checkbox, Select, TextInput } from "../../ui/field.tsx";
import { Empty, Loaded } from "../../ui/notice.tsx";
import { Panel } from "../../ui/page.tsx";
import { ActionBadges } from "./action-badges.tsx";
import { type ActionGroup, describedAction, groupedActions, type KindFilter } from "./action-list.rules.ts";
import { actionsQuery } from "./identity-queries.ts";

export function ActionsPanel() {
  const { q = "" } = useSearch({ from: "/app/identity" });
  const navigate = useNavigate();
  // Local state keeps typing fast; the URL follows for the browser history.
  const [text, setText] = useState(q);
  const [kind, setKind] = useState<KindFilter>("all");
  const [allowedOnly, setAllowedOnly] = useState(false);
  const actions = useQuery(actionsQuery);
  const search = (typed: string) => {
    setText(typed);
    void navigate({ to: "/identity", search: typed === "" ? {} : { q: typed }, replace: true });
  };
  return (
    <Panel
      flush
      title="Actions"
      actions={
        <div className="flex flex-wrap items-center gap-3">
          {actions.data?.some(({ allowed_by_token }) => allowed_by_token !== null) && (
            <Checkbox
              label="Allowed by token"
              checked={allowedOnly}
              onChange={(event) => setAllowedOnly(event.target.checked)}
            />
          )}
          <Select
            aria-label="Type"
            className="w-40!"
            value={kind}
            onChange={(event) => setKind(event.target.value as KindFilter)}
          >
            <option value="all">Read and write</option>
            <option value="read">Read</option>
            <option value="write">Write</option>
          </Select>
          <TextInput
            type="search"
            aria-label="Search actions"
            placeholder="Search actions"
            className="w-48!"
            value={text}
            onChange={(event) => search(event.target.value)}
          />
        </div>
      }
    >
      <Loaded query={actions}>
        {(all) => {
          const groups = groupedActions(all, { text, kind, allowedOnly });
          return groups.length === 0 ? (
            <Empty title="No matching actions">Change the search or the filters.</Empty>
          ) : (
            groups.map((group) => <Group key={group.name} group={group} />)
          );
        }}
      </Loaded>
    </Panel>
  );
}

function Group({ group: { name, actions } }: { group: ActionGroup }) {
  return (
    <section aria-label={name} className="border-line border-b last:border-b-0">
      <h3 className="bg-sunken/60 px-4 py-1.5 font-medium text-muted text-xs">
        {name} ({actions.length})
      </h3>
      <ul>
        {actions.map((action) => (
          <li key={action.name} className="border-line border-t">
            <Entry action={action} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Entry({ action }: { action: IdpActionRecord }) {
  return (
    <Link
      to="/identity/$action"
      params={{ action: action.name }}
      className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 px-4 py-2 hover:bg-sunken/60"
    >
      <span className="min-w-0 flex-1 basis-64">
        <code className="break-all font-medium">{action.name}</code>
        <span className="line-clamp-2 break-words text-muted text-xs">
          {describedAction(action.description).summary}
        </span>
      </span>
      <ActionBadges action={action} />
    </Link>
  );
}
