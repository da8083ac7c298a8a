import { useEffect, useState } from "react";

const tokenInAddress = (): string | undefined => location.hash.slice(1) || undefined;

/**
 * The token of the sign-in link by which the page was opened, or that was pasted since. It works once: it does not stay in
 * the address bar and the history, to be of use to somebody else.
 */
export function useLinkToken(): [token: string | undefined, drop: () => void] {
  const [token, setToken] = useState(tokenInAddress);
  useEffect(() => {
    const take = () => {
      const given = tokenInAddress();
      if (given === undefined) return;
      setToken(given);
      history.replaceState(history.state, "", location.pathname + location.search);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return [token, () => setToken(undefined)];
}
