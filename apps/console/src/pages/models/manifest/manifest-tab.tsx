import type { ModelCard } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { ConfirmButton } from "../../../ui/dialog.tsx";
import { Failure } from "../../../ui/notice.tsx";
import { Panel } from "../../../ui/page.tsx";
import { toast } from "../../../ui/toast.ts";
import { modelQuery } from "../model-query.ts";
import { manifestTextOf } from "./manifest.rules.ts";
import { ManifestEditor } from "./manifest-editor.tsx";
import type { EditedManifest } from "./use-manifest.ts";

/** For the owner and for admins. The text is kept by the page, so that a look at another tab loses nothing. */
export function ManifestTab({ card, edited }: { card: ModelCard; edited: EditedManifest }) {
  const { text, change, faults, failure, isSaving, save } = edited;
  const stored = manifestTextOf(card);
  const isChanged = text !== stored;
  return (
    <Panel title="Manifest" actions={<DeleteModel card={card} />}>
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-muted">
          What the model takes, gives and costs, and who answers. It is replaced as a whole; what runs already ends as
          it began. Now version {card.version}.
        </p>
        <ManifestEditor text={text} onText={change} faults={faults} />
        {failure !== undefined && <Failure error={failure} />}
        <div className="flex items-center gap-2">
          <Button kind="primary" busy={isSaving} disabled={!isChanged} onClick={() => save(card.endpoint_id)}>
            Save
          </Button>
          <Button kind="quiet" disabled={!isChanged || isSaving} onClick={() => change(stored)}>
            Undo changes
          </Button>
        </div>
      </div>
    </Panel>
  );
}

/** Those who own what Gantry ships; nobody else can be called so. */
const shippers = ["gantry", "anthropic"];

function DeleteModel({ card: { endpoint_id: id, owner } }: { card: ModelCard }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.models.delete(id),
    async onSuccess() {
      toast(`${id} is deleted`);
      // Away first: what is asked again while the page is there would not be found.
      await navigate({ to: "/models" });
      queries.removeQueries(modelQuery(id));
      await queries.invalidateQueries({ queryKey: ["models"] });
    },
  });
  return (
    <ConfirmButton
      label="Delete"
      icon={<Trash2 size={14} />}
      question={`Delete ${id}?`}
      explanation={
        <>
          Nothing new is accepted from then on. What was accepted still ends, and what it cost stays in the usage.
          {shippers.includes(owner) && ` It comes with Gantry: POST /api/v1/${id}/restore brings it back as it ships.`}
        </>
      }
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
