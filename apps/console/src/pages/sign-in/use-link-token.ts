import { useEffect, useState } from "react";

const tokenInUrl = (): string | undefined => location.hash.slice(1) || undefined;

/**
 * The token of the sign-in link that opened the page, or that was pasted later. The token is removed from the address bar
 * and the history, because an unused one would sign in anyone who finds it.
 */
export function useLinkToken(): [token: string | undefined, drop: () => void] {
  const [token, setToken] = useState(tokenInUrl);
  useEffect(() => {
    const take = () => {
      const given = tokenInUrl();
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
