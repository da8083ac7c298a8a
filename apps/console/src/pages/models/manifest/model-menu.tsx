import type { ModelCard } from "@gantry/sdk";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Ellipsis, Trash2 } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { toast } from "../../../ui/toast.ts";
import { modelQuery } from "../model-query.ts";

/** Owners of the models that ship with Gantry. */
const builtInOwners = ["gantry", "anthropic"];

/** Rare and irreversible actions. */
export function ModelMenu({ card: { endpoint_id: id, owner } }: { card: ModelCard }) {
  const [isDeleting, setDeleting] = useState(false);
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    mutationFn: () => api.models.delete(id),
    async onSuccess() {
      toast(`${id} deleted`);
      // Leaves first: the open page would refetch the deleted model. Edits of its manifest are of no use any more.
      await navigate({ to: "/models", ignoreBlocker: true });
      queries.removeQueries(modelQuery(id));
      await queries.invalidateQueries({ queryKey: ["models"] });
    },
  });
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger aria-label="More actions" className={`${buttonClass("quiet")} px-2`}>
          <Ellipsis size={16} />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content
            align="end"
            sideOffset={4}
            className="z-30 min-w-40 rounded-md border border-line bg-panel p-1 shadow-lg"
          >
            <DropdownMenu.Item
              className="flex cursor-pointer items-center gap-2 rounded px-2 py-1.5 text-bad outline-none data-highlighted:bg-bad-soft"
              onSelect={() => setDeleting(true)}
            >
              <Trash2 size={14} aria-hidden /> Delete model
            </DropdownMenu.Item>
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <Dialog
        open={isDeleting}
        onClose={() => setDeleting(false)}
        title={`Delete ${id}?`}
        description={
          <>
            New requests are refused. Accepted predictions still finish, and usage records are kept.
            {builtInOwners.includes(owner) && ` This model ships with Gantry: POST /api/v1/${id}/restore restores it.`}
          </>
        }
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setDeleting(false)}>Cancel</Button>
          <Button kind="danger" busy={deleting.isPending} onClick={() => deleting.mutate()}>
            Delete model
          </Button>
        </div>
      </Dialog>
    </>
  );
}
