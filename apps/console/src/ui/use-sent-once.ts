import { type UseMutationOptions, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { createAttempts } from "./attempts.rules.ts";

interface SentOnceOptions<Answer, Sent> extends Omit<UseMutationOptions<Answer, Error, Sent>, "mutationFn"> {
  send(sent: Sent, idempotencyKey: string): Promise<Answer>;
}

type SentOnce<Answer, Sent> = Pick<
  UseMutationResult<Answer, Error, Sent>,
  "error" | "isError" | "isPending" | "reset"
> & {
  /** Does nothing while something is under way. */
  mutate(sent: Sent): void;
};

/** A mutation that spends or moves something: neither a second click nor an answer that was lost does it twice. */
export function useSentOnce<Answer, Sent = void>({
  send,
  ...options
}: SentOnceOptions<Answer, Sent>): SentOnce<Answer, Sent> {
  const [attempts] = useState(() => createAttempts());
  // A button knows of it only after it was drawn again.
  const isUnderWay = useRef(false);
  const { mutateAsync, error, isError, isPending, reset } = useMutation<Answer, Error, Sent>({
    ...options,
    mutationFn: (sent) => attempts.send(sent, (key) => send(sent, key)),
  });
  const mutate = async (sent: Sent) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    try {
      await mutateAsync(sent);
    } catch {
      // It is told by `error`, or by a toast.
    } finally {
      isUnderWay.current = false;
    }
  };
  return { error, isError, isPending, reset, mutate: (sent) => void mutate(sent) };
}
