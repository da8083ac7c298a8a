import type { AgentRecord, RevisionEntry } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Badge } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Empty, Loaded } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { Table } from "../../../ui/table.tsx";
import { toast } from "../../../ui/toast.ts";
import { revisionsQuery } from "../agent-queries.ts";
import { draftOf } from "../form/agent-draft.rules.ts";
import { PublishDialog } from "../publish-dialog.tsx";
import { CompareRevisions } from "./compare-revisions.tsx";

const badges = {
  draft: ["plain", "Draft"],
  published: ["good", "Published"],
  superseded: ["info", "Superseded"],
} as const;

export function RevisionsTab({ agent }: { agent: AgentRecord }) {
  const list = useQuery(revisionsQuery(agent.id));
  const queries = useQueryClient();
  const [compared, setCompared] = useState<string>();
  const [publishing, setPublishing] = useState<string>();
  const restoring = useMutation({
    mutationFn: async ({ id }: RevisionEntry) =>
      api.agents.update(agent.id, draftOf(await api.agents.revisions.get(agent.id, id))),
    async onSuccess(_, { number }) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      toast(`Revision ${number} restored as draft`);
    },
  });
  return (
    <Loaded query={list}>
      {({ revisions, total }) => (
        <div className="grid items-start gap-4 lg:grid-cols-5">
          <Panel title="Revisions" flush className="lg:col-span-3">
            <Table
              label="Revisions"
              rows={revisions}
              keyOf={({ id }) => id}
              empty={<Empty title="No revisions" />}
              columns={[
                { head: "No.", cell: ({ number }) => <span className="font-medium">{number}</span> },
                { head: "Status", cell: ({ status }) => <Badge tone={badges[status][0]}>{badges[status][1]}</Badge> },
                { head: "Created", wide: true, cell: ({ created_at }) => <Moment at={created_at} /> },
                {
                  head: "Actions",
                  align: "right",
                  cell: (row) => (
                    <span className="flex flex-wrap justify-end sm:flex-nowrap">
                      <Button kind="quiet" onClick={() => setCompared(row.id)}>
                        Compare
                      </Button>
                      {row.id !== agent.latest_revision_id && (
                        <Button
                          kind="quiet"
                          busy={restoring.isPending && restoring.variables.id === row.id}
                          onClick={() => restoring.mutate(row)}
                        >
                          Restore
                        </Button>
                      )}
                      {row.status !== "published" && (
                        <Button kind="quiet" onClick={() => setPublishing(row.id)}>
                          Publish
                        </Button>
                      )}
                    </span>
                  ),
                },
              ]}
            />
            {total > revisions.length && (
              <p className="border-line border-t px-4 py-2 text-muted">
                Showing the newest {revisions.length} of {total}
              </p>
            )}
          </Panel>
          <CompareRevisions
            key={compared ?? agent.latest_revision_id}
            agentId={agent.id}
            revisions={revisions}
            newer={compared ?? agent.latest_revision_id}
          />
          <PublishDialog agent={agent} revisionId={publishing} onClose={() => setPublishing(undefined)} />
        </div>
      )}
    </Loaded>
  );
}
