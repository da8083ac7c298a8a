import type { AgentRecord } from "@gantry/sdk";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { api } from "../../api/client.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Failure, Loaded } from "../../ui/notice.tsx";
import { toast } from "../../ui/toast.ts";
import { diffQuery } from "./agent-queries.ts";
import { DiffView } from "./diff-view.tsx";

interface PublishDialogProps {
  agent: AgentRecord;
  /** Undefined: closed. */
  revisionId: string | undefined;
  onClose(): void;
}

/** Shows the changes since the published revision, then publishes. */
export function PublishDialog({ agent, revisionId, onClose }: PublishDialogProps) {
  const queries = useQueryClient();
  const publishing = useMutation({
    meta: { showsFailure: true },
    mutationFn: (revision_id: string) => api.agents.publish(agent.id, { revision_id }),
    async onSuccess(published) {
      await queries.invalidateQueries({ queryKey: ["agents"] });
      toast(`${published.name} published`);
      onClose();
    },
  });
  const close = () => {
    publishing.reset();
    onClose();
  };
  return (
    <Dialog
      open={revisionId !== undefined}
      onClose={close}
      wide
      title={`Publish ${agent.name}`}
      description={
        agent.published_revision_id === null
          ? "New runs will use this version."
          : "New runs will use this version. Running ones keep theirs. Changes:"
      }
    >
      <div className="flex flex-col gap-4">
        {revisionId !== undefined && agent.published_revision_id !== null && (
          <Changes agentId={agent.id} revisionId={revisionId} against={agent.published_revision_id} />
        )}
        {publishing.isError && <Failure error={publishing.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button
            kind="primary"
            busy={publishing.isPending}
            onClick={() => revisionId !== undefined && publishing.mutate(revisionId)}
          >
            Publish
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

export function Changes({ agentId, revisionId, against }: { agentId: string; revisionId: string; against?: string }) {
  const diff = useQuery(diffQuery(agentId, revisionId, against));
  return <Loaded query={diff}>{({ changes }) => <DiffView changes={changes} />}</Loaded>;
}
