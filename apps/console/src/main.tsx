import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { startActing } from "./api/acting-team.ts";
import { createQueryClient } from "./api/query-client.ts";
import { createConsoleRouter } from "./router.tsx";
import { watchConnection } from "./shell/connection-watch.ts";
import { showMessageAfterReload } from "./shell/reload.ts";
import { watchSession } from "./shell/session-watch.ts";
import { applyTheme } from "./shell/theme.ts";
import { Toasts } from "./ui/toasts.tsx";
import "./styles.css";

startActing();
applyTheme();
const queries = createQueryClient();
const router = createConsoleRouter(queries);
watchSession(queries);
watchConnection(queries);
showMessageAfterReload();

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root element");
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
