import { type UseMutationOptions, type UseMutationResult, useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { createAttempts } from "./attempts.rules.ts";

interface IdempotentMutationOptions<Answer, Sent> extends Omit<UseMutationOptions<Answer, Error, Sent>, "mutationFn"> {
  /** Completes the request before its key is chosen. */
  prepare?(given: Sent): Promise<Sent>;
  /** Must not add values that can change: a repeat has the same key if `sent` is equal. */
  send(sent: Sent, idempotencyKey: string): Promise<Answer>;
}

type IdempotentMutation<Answer, Sent> = Pick<
  UseMutationResult<Answer, Error, Sent>,
  "error" | "isError" | "isPending" | "reset"
> & {
  /** Ignored while a request is in flight. */
  mutate(sent: Sent): void;
};

/** For mutations that spend or move money: a second click or a lost answer does not repeat them. */
export function useIdempotentMutation<Answer, Sent = void>({
  prepare = async (given) => given,
  send,
  ...options
}: IdempotentMutationOptions<Answer, Sent>): IdempotentMutation<Answer, Sent> {
  const [attempts] = useState(() => createAttempts());
  // The button is disabled only after the next render.
  const isInFlight = useRef(false);
  const { mutateAsync, error, isError, isPending, reset } = useMutation<Answer, Error, Sent>({
    ...options,
    mutationFn: async (given) => {
      const sent = await prepare(given);
      return attempts.send(sent, (key) => send(sent, key));
    },
  });
  const mutate = async (sent: Sent) => {
    if (isInFlight.current) return;
    isInFlight.current = true;
    try {
      await mutateAsync(sent);
    } catch {
      // Shown by `error` or a toast.
    } finally {
      isInFlight.current = false;
    }
  };
  return { error, isError, isPending, reset, mutate: (sent) => void mutate(sent) };
}
