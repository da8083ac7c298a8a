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

/** The page keeps the text, so that switching tabs does not discard it. */
export function ManifestTab({ card, edited }: { card: ModelCard; edited: EditedManifest }) {
  const { text, change, faults, failure, isSaving, save } = edited;
  const stored = manifestTextOf(card);
  const isChanged = text !== stored;
  return (
    <Panel title="Manifest" actions={<DeleteModel card={card} />}>
      <div className="flex flex-col gap-3">
        <p className="max-w-prose text-muted">
          Inputs, outputs, price and backend. Saving replaces the manifest; running predictions are not affected.
          Version {card.version}.
        </p>
        <ManifestEditor text={text} onText={change} faults={faults} />
        {failure !== undefined && <Failure error={failure} />}
        <div className="flex items-center gap-2">
          <Button kind="primary" busy={isSaving} disabled={!isChanged} onClick={() => save(card.endpoint_id)}>
            Save
          </Button>
          <Button kind="quiet" disabled={!isChanged || isSaving} onClick={() => change(stored)}>
            Discard changes
          </Button>
        </div>
      </div>
    </Panel>
  );
}

/** Owners of the models that ship with Gantry. */
const builtInOwners = ["gantry", "anthropic"];

function DeleteModel({ card: { endpoint_id: id, owner } }: { card: ModelCard }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.models.delete(id),
    async onSuccess() {
      toast(`${id} deleted`);
      // Leaves first: the open page would refetch the deleted model.
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
          New requests are refused. Accepted predictions still finish, and usage records are kept.
          {builtInOwners.includes(owner) && ` This model ships with Gantry: POST /api/v1/${id}/restore restores it.`}
        </>
      }
      onConfirm={() => deleting.mutateAsync()}
    />
  );
}
