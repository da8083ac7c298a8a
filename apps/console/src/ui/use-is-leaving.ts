import { useRouter } from "@tanstack/react-router";

/** Tells whether another page is being loaded. A search that navigates then would undo the choice of the reader. */
export function useIsLeaving(): () => boolean {
  const router = useRouter();
  return () => {
    const { location, resolvedLocation } = router.state;
    return resolvedLocation !== undefined && location.pathname !== resolvedLocation.pathname;
  };
}
