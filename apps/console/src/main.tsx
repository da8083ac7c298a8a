import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "./api/query-client.ts";
import { createConsoleRouter } from "./router.tsx";
import { applyTheme } from "./shell/theme.ts";
import { Toasts } from "./ui/toasts.tsx";
import "./styles.css";

applyTheme();
const queries = createQueryClient(() => {
  const { pathname } = router.state.location;
  if (pathname === "/sign-in") return;
  queries.removeQueries({ queryKey: ["session"] });
  void router.navigate({ to: "/sign-in", search: { from: router.state.location.href } });
});
const router = createConsoleRouter(queries);

const root = document.getElementById("root");
if (!root) throw new Error("the page has no root");
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
      <Toasts />
    </QueryClientProvider>
  </StrictMode>,
);

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
