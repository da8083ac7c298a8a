import { GantryError } from "@gantry/sdk";
import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure, Notice } from "./notice.tsx";

interface DeleteInUseButtonProps {
  question: string;
  explanation: ReactNode;
  /** `force`: delete even if agents use the resource. */
  onDelete(force: boolean): Promise<void>;
}

/** Deletes a resource. If agents use it, lists them and asks again. */
export function DeleteInUseButton({ question, explanation, onDelete }: DeleteInUseButtonProps) {
  const [open, setOpen] = useState(false);
  const deleting = useMutation({
    meta: { showsFailure: true },
    mutationFn: onDelete,
    onSuccess: () => setOpen(false),
  });
  const users = agentsInTheWay(deleting.error);
  const close = () => {
    setOpen(false);
    deleting.reset();
  };
  return (
    <>
      <Button kind="danger" icon={<Trash2 size={14} />} onClick={() => setOpen(true)}>
        Delete
      </Button>
      <Dialog open={open} onClose={close} title={question} description={explanation}>
        {users && (
          <Notice tone="warn" title={users.length === 1 ? "Used by 1 agent" : `Used by ${users.length} agents`}>
            <ul className="my-1 list-disc pl-4">
              {users.map(({ id, name }) => (
                <li key={id}>
                  <Link to="/agents/$agentId" params={{ agentId: id }} className="text-accent hover:underline">
                    {name}
                  </Link>
                </li>
              ))}
            </ul>
            <p>Current runs continue without it.</p>
          </Notice>
        )}
        {deleting.isError && !users && <Failure error={deleting.error} />}
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={close}>Cancel</Button>
          <Button kind="danger" busy={deleting.isPending} onClick={() => deleting.mutate(users !== undefined)}>
            {users ? "Delete anyway" : "Delete"}
          </Button>
        </div>
      </Dialog>
    </>
  );
}

function agentsInTheWay(error: unknown): { id: string; name: string }[] | undefined {
  if (!(error instanceof GantryError) || error.type !== "conflict") return undefined;
  const agents = error.details?.agents;
  return Array.isArray(agents) && agents.length > 0 ? agents : undefined;
}
