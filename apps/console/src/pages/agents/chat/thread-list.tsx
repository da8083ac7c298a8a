import type { ThreadRecord } from "@gantry/sdk";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Trash2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../../api/client.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { Moment } from "../../../ui/moment.tsx";
import { Failure, Loaded } from "../../../ui/notice.tsx";
import { toast } from "../../../ui/toast.ts";
import { threadQuery, threadsQuery } from "./thread-queries.ts";

interface ThreadListProps {
  agentId: string;
  /** The open thread. */
  thread: string | undefined;
}

/** Chats with this agent, the latest first. */
export function ThreadList({ agentId, thread }: ThreadListProps) {
  const list = useInfiniteQuery(threadsQuery(agentId));
  const [deleting, setDeleting] = useState<ThreadRecord>();
  return (
    <Loaded query={list}>
      {({ pages }) => {
        const threads = pages.flatMap((page) => page.threads);
        return (
          <nav aria-label="Chats" className="flex min-h-0 flex-col">
            {threads.length === 0 && <p className="p-4 text-muted">No chats yet.</p>}
            <ul className="flex flex-col">
              {threads.map((each) => (
                <Row
                  key={each.id}
                  agentId={agentId}
                  thread={each}
                  isOpen={each.id === thread}
                  onDelete={() => setDeleting(each)}
                />
              ))}
            </ul>
            {list.hasNextPage && (
              <Button
                kind="quiet"
                className="m-2"
                busy={list.isFetchingNextPage}
                onClick={() => void list.fetchNextPage()}
              >
                Show more
              </Button>
            )}
            {deleting && (
              <DeleteThread
                agentId={agentId}
                thread={deleting}
                isOpen={deleting.id === thread}
                onClose={() => setDeleting(undefined)}
              />
            )}
          </nav>
        );
      }}
    </Loaded>
  );
}

interface RowProps {
  agentId: string;
  thread: ThreadRecord;
  isOpen: boolean;
  onDelete(): void;
}

function Row({ agentId, thread, isOpen, onDelete }: RowProps) {
  const { id, title, updated_at, last_status } = thread;
  const name = title || id;
  const state = { pending: "Answering", running: "Answering", error: "Failed", done: undefined }[last_status];
  return (
    <li
      className={`group flex items-center border-line border-b last:border-b-0 ${isOpen ? "bg-accent-soft" : "hover:bg-sunken/60"}`}
    >
      <Link
        to="/agents/$agentId/chat/{-$thread}"
        params={{ agentId, thread: id }}
        aria-current={isOpen ? "page" : undefined}
        className="min-w-0 flex-1 px-4 py-2 -outline-offset-2"
      >
        <span className={`block truncate ${isOpen ? "font-medium" : ""}`}>{name}</span>
        <span className="block truncate text-muted text-xs">
          <Moment at={updated_at} />
          {state && ` · ${state}`}
        </span>
      </Link>
      <button
        type="button"
        aria-label={`Delete ${name}`}
        title="Delete"
        className="mr-2 shrink-0 rounded p-1.5 text-muted hover:bg-sunken hover:text-bad"
        onClick={onDelete}
      >
        <Trash2 size={14} />
      </button>
    </li>
  );
}

interface DeleteThreadProps {
  agentId: string;
  thread: ThreadRecord;
  isOpen: boolean;
  onClose(): void;
}

function DeleteThread({ agentId, thread: { id, title }, isOpen, onClose }: DeleteThreadProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const deleting = useMutation({
    meta: { showsFailure: true },
    mutationFn: () => api.threads.delete(id),
    async onSuccess() {
      toast("Chat deleted");
      // Leaves first: the open page would read the deleted thread again.
      if (isOpen) {
        const params = { agentId, thread: undefined };
        await navigate({ to: "/agents/$agentId/chat/{-$thread}", params, replace: true });
      }
      queries.removeQueries({ queryKey: threadQuery(id).queryKey });
      await queries.invalidateQueries({ queryKey: ["threads", "list"] });
      await queries.invalidateQueries({ queryKey: ["runs"] });
      onClose();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Delete “${title || id}”?`}
      description="Deletes its messages, answers and traces. This can't be undone. Charges stay in your usage."
    >
      {deleting.isError && <Failure error={deleting.error} />}
      <div className="mt-4 flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={deleting.isPending} onClick={() => deleting.mutate()}>
          Delete
        </Button>
      </div>
    </Dialog>
  );
}
