import type { CreateRunBody, RunRecord, ThreadTurn } from "@gantry/sdk";
import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { Link, Navigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { api } from "../../../api/client.ts";
import { Button, buttonClass } from "../../../ui/button.tsx";
import { Waiting } from "../../../ui/chat/chat-parts.tsx";
import { FollowEnd } from "../../../ui/markdown/follow-end.tsx";
import { Empty, Failure, Loading } from "../../../ui/notice.tsx";
import { useIdempotentMutation } from "../../../ui/use-idempotent-mutation.ts";
import { useIsShown } from "../../../ui/use-is-shown.ts";
import { runQuery } from "../../runs/run-queries.ts";
import { isOver } from "../../runs/run-status.tsx";
import { chatFields } from "./chat-input.rules.ts";
import { MessageForm } from "./message-form.tsx";
import { isMissing, threadQuery, turnOf } from "./thread-queries.ts";
import { Said, Turns } from "./turns.tsx";

/** The agent as it is called. */
export interface ChatTarget {
  id: string;
  name: string;
  description: string | null | undefined;
  /** An id, or `creator/slug`. */
  address: string;
  schema: Record<string, unknown>;
  body: Pick<CreateRunBody, "revision_id" | "connectors" | "expected_price">;
}

interface ConversationProps {
  target: ChatTarget;
  thread: string;
  /** False: the first message creates the thread. */
  isStored: boolean;
  onStarted(): void;
  /** Above the message, such as the price. */
  children?: ReactNode;
}

export function Conversation({ target, thread, isStored, onStarted, children }: ConversationProps) {
  const fields = chatFields(target.schema);
  const queries = useQueryClient();
  const isShown = useIsShown();
  const stored = useInfiniteQuery({ ...threadQuery(thread), enabled: isStored });
  /** Runs that were started here, until the thread contains them. */
  const [started, setStarted] = useState<readonly ThreadTurn[]>([]);
  const [asked, setAsked] = useState<Record<string, unknown>>();
  const [draft, setDraft] = useState({ text: "", n: 0 });
  const turns = allTurns(stored.data?.pages, started);
  const live = turns.filter((turn) => !isOver(turn) && !hasEnded(turn.run_id));

  /** The followed run may have ended before the thread was read again, or the other way round. */
  function hasEnded(runId: string): boolean {
    const run = queries.getQueryData(runQuery(runId).queryKey);
    return run !== undefined && isOver(run);
  }

  const sending = useIdempotentMutation({
    meta: { showsFailure: true },
    send: (body: CreateRunBody, idempotencyKey): Promise<RunRecord> =>
      api.runs.create(target.address, body, { idempotencyKey }),
    async onSuccess(run) {
      queries.setQueryData(runQuery(run.id).queryKey, run);
      setStarted((before) => [...before, turnOf(run)]);
      setAsked(undefined);
      if (isShown()) onStarted();
      await queries.invalidateQueries({ queryKey: ["threads"] });
    },
    onError(_error, { input }) {
      const text = fields.message === undefined ? undefined : input?.[fields.message];
      setAsked(undefined);
      setDraft(({ n }) => ({ text: typeof text === "string" ? text : "", n: n + 1 }));
      // The failure may be a changed price, which must be shown before the next attempt.
      for (const changed of ["agents", "marketplace"]) void queries.invalidateQueries({ queryKey: [changed] });
    },
  });
  const stopping = useMutation({
    mutationFn: async () => {
      for (const { run_id } of live) await api.runs.cancel(run_id);
    },
    onSettled: () => Promise.all(["runs", "threads"].map((key) => queries.invalidateQueries({ queryKey: [key] }))),
  });

  const details = stored.data?.pages[0];
  if (details && details.agent_id !== target.id) {
    return <Navigate replace to="/agents/$agentId/chat/{-$thread}" params={{ agentId: details.agent_id, thread }} />;
  }
  if (isStored && turns.length === 0) {
    if (isMissing(stored.error)) return <Gone agentId={target.id} />;
    if (stored.isError) return <Failure error={stored.error} onRetry={() => void stored.refetch()} />;
    if (stored.isPending) return <Loading />;
  }
  const isEmpty = turns.length === 0 && asked === undefined;
  return (
    <>
      {isEmpty ? (
        <div className="grid min-h-0 flex-1 place-items-center overflow-y-auto">
          <Empty title={`Chat with ${target.name}`}>
            {target.description ?? "Send a message to start. The agent remembers what was said in this chat."}
          </Empty>
        </div>
      ) : (
        <FollowEnd active fills label="Conversation" className="px-4" latest={asked ? "asked" : turns.at(-1)?.run_id}>
          {stored.hasNextPage && (
            <div className="flex justify-center pt-3">
              <Button kind="quiet" busy={stored.isFetchingNextPage} onClick={() => void stored.fetchNextPage()}>
                Show earlier messages
              </Button>
            </div>
          )}
          <ol className="mx-auto flex max-w-3xl flex-col gap-6 py-4">
            <Turns agentId={target.id} turns={turns} message={fields.message} />
            {asked && (
              <li className="flex flex-col gap-4">
                <Said input={asked} before={turns.at(-1)?.input} message={fields.message} />
                <Waiting />
              </li>
            )}
          </ol>
        </FollowEnd>
      )}
      <div className="shrink-0 rounded-b-lg border-line border-t bg-panel p-3">
        <div className="mx-auto flex max-w-3xl flex-col gap-3">
          {children}
          <MessageForm
            fields={fields}
            last={turns.at(-1)?.input}
            isLive={live.length > 0}
            isSending={sending.isPending}
            error={sending.error}
            draft={draft}
            onSend={(input) => {
              setAsked(input);
              sending.mutate({ input, thread_id: thread, ...target.body });
            }}
            onStop={() => stopping.mutate()}
          />
        </div>
      </div>
    </>
  );
}

/** Oldest first, then runs that the stored thread does not contain yet. */
function allTurns(
  pages: readonly { turns: ThreadTurn[] }[] | undefined,
  started: readonly ThreadTurn[],
): readonly ThreadTurn[] {
  const known = (pages ?? []).toReversed().flatMap(({ turns }) => turns);
  const ids = new Set(known.map(({ run_id }) => run_id));
  return [...known, ...started.filter(({ run_id }) => !ids.has(run_id))];
}

function Gone({ agentId }: { agentId: string }) {
  return (
    <div className="grid flex-1 place-items-center">
      <Empty title="This chat does not exist">
        <p className="mb-3">It may have been deleted or has expired.</p>
        <Link
          to="/agents/$agentId/chat/{-$thread}"
          params={{ agentId, thread: undefined }}
          className={buttonClass("primary")}
        >
          New chat
        </Link>
      </Empty>
    </div>
  );
}
