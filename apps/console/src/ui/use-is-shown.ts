import { useEffect, useRef } from "react";

/** Tells whether the component is still on the page: the answer to a request may arrive after the reader has left. */
export function useIsShown(): () => boolean {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => {
      isShown.current = false;
    };
  }, []);
  return () => isShown.current;
}
