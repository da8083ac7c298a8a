import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter, Outlet, redirect } from "@tanstack/react-router";
import { isSignedOut } from "./api/client.ts";
import { BrokenPage, NotFoundPage } from "./pages/not-found-page.tsx";
import { OverviewPage } from "./pages/overview/overview-page.tsx";
import { connectSearch } from "./pages/providers/connect/connect-search.rules.ts";
import { ResetPasswordPage } from "./pages/sign-in/reset-password-page.tsx";
import { SignInPage } from "./pages/sign-in/sign-in-page.tsx";
import {
  agentSearch,
  approvalsSearch,
  auditSearch,
  authorizeSearch,
  automationsSearch,
  deliverySearch,
  driveSearch,
  filesSearch,
  keysSearch,
  listSearch,
  modelSearch,
  modelsSearch,
  moneySearch,
  newAgentSearch,
  predictionSearch,
  predictionsSearch,
  runSearch,
  runsSearch,
  sharedListSearch,
  signInSearch,
  usageSearch,
} from "./searches.rules.ts";
import { AppShell } from "./shell/app-shell.tsx";
import { lazyPage } from "./shell/lazy-page.ts";
import { sessionQuery } from "./shell/session.ts";
import { rangeSearch } from "./ui/chart/range.rules.ts";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: Outlet,
  notFoundComponent: NotFoundPage,
});

const signIn = createRoute({
  getParentRoute: () => root,
  path: "sign-in",
  validateSearch: signInSearch,
  component: SignInPage,
});

const resetPassword = createRoute({
  getParentRoute: () => root,
  path: "reset-password",
  component: ResetPasswordPage,
});

/** Everything that requires a signed-in user. */
const app = createRoute({
  getParentRoute: () => root,
  id: "app",
  component: AppShell,
  async beforeLoad({ context: { queries }, location }) {
    try {
      await queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (isSignedOut(error)) throw redirect({ to: "/sign-in", search: { from: location.href } });
      throw error;
    }
  },
});

const inApp = { getParentRoute: () => app };

/** In the order of the sidebar. */
const pages = [
  createRoute({ ...inApp, path: "/", validateSearch: rangeSearch, component: OverviewPage }),
  createRoute({
    ...inApp,
    path: "models",
    validateSearch: modelsSearch,
    component: lazyPage(() => import("./pages/models/models-page.tsx"), "ModelsPage"),
  }),
  createRoute({
    ...inApp,
    path: "models/connect",
    validateSearch: connectSearch,
    component: lazyPage(() => import("./pages/providers/connect/connect-page.tsx"), "ConnectPage"),
  }),
  createRoute({
    ...inApp,
    path: "models/$owner/$name",
    validateSearch: modelSearch,
    component: lazyPage(() => import("./pages/models/model-page.tsx"), "ModelPage"),
  }),
  createRoute({
    ...inApp,
    path: "aliases",
    validateSearch: sharedListSearch,
    component: lazyPage(() => import("./pages/aliases/aliases-page.tsx"), "AliasesPage"),
  }),
  createRoute({
    ...inApp,
    path: "providers",
    validateSearch: sharedListSearch,
    component: lazyPage(() => import("./pages/providers/list/providers-page.tsx"), "ProvidersPage"),
  }),
  createRoute({
    ...inApp,
    path: "predictions",
    validateSearch: predictionsSearch,
    component: lazyPage(() => import("./pages/predictions/predictions-page.tsx"), "PredictionsPage"),
  }),
  createRoute({
    ...inApp,
    path: "predictions/$id",
    validateSearch: predictionSearch,
    // Paid agent runs have usage rows like predictions.
    beforeLoad({ params: { id } }) {
      if (id.startsWith("run_")) throw redirect({ to: "/runs/$runId", params: { runId: id }, replace: true });
    },
    component: lazyPage(() => import("./pages/predictions/one/prediction-page.tsx"), "PredictionPage"),
  }),
  createRoute({
    ...inApp,
    path: "batches",
    component: lazyPage(() => import("./pages/batches/batches-page.tsx"), "BatchesPage"),
  }),
  createRoute({
    ...inApp,
    path: "batches/$id",
    component: lazyPage(() => import("./pages/batches/batch-page.tsx"), "BatchPage"),
  }),
  createRoute({
    ...inApp,
    path: "usage",
    validateSearch: usageSearch,
    // Links from before predictions had pages.
    beforeLoad({ search: { prediction } }) {
      if (prediction !== undefined)
        throw redirect({ to: "/predictions/$id", params: { id: prediction }, replace: true });
    },
    component: lazyPage(() => import("./pages/usage/usage-page.tsx"), "UsagePage"),
  }),
  createRoute({
    ...inApp,
    path: "files",
    validateSearch: filesSearch,
    component: lazyPage(() => import("./pages/files/files-page.tsx"), "FilesPage"),
  }),
  createRoute({
    ...inApp,
    path: "agents",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/agents/agents-page.tsx"), "AgentsPage"),
  }),
  createRoute({
    ...inApp,
    path: "agents/new",
    validateSearch: newAgentSearch,
    component: lazyPage(() => import("./pages/agents/new-agent-page.tsx"), "NewAgentPage"),
  }),
  createRoute({
    ...inApp,
    path: "agents/$agentId",
    validateSearch: agentSearch,
    component: lazyPage(() => import("./pages/agents/agent-page.tsx"), "AgentPage"),
  }),
  createRoute({
    ...inApp,
    // One route for both, so that the page stays when the first message names the thread.
    path: "agents/$agentId/chat/{-$thread}",
    component: lazyPage(() => import("./pages/agents/chat/agent-chat-page.tsx"), "AgentChatPage"),
  }),
  createRoute({
    ...inApp,
    path: "runs",
    validateSearch: runsSearch,
    component: lazyPage(() => import("./pages/runs/runs-page.tsx"), "RunsPage"),
  }),
  createRoute({
    ...inApp,
    path: "runs/$runId",
    validateSearch: runSearch,
    component: lazyPage(() => import("./pages/runs/run-page.tsx"), "RunPage"),
  }),
  createRoute({
    ...inApp,
    path: "automations",
    validateSearch: automationsSearch,
    component: lazyPage(() => import("./pages/automations/automations-page.tsx"), "AutomationsPage"),
  }),
  createRoute({
    ...inApp,
    path: "approvals",
    validateSearch: approvalsSearch,
    component: lazyPage(() => import("./pages/approvals/approvals-page.tsx"), "ApprovalsPage"),
  }),
  createRoute({
    ...inApp,
    path: "marketplace",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/marketplace/marketplace-page.tsx"), "MarketplacePage"),
  }),
  createRoute({
    ...inApp,
    path: "marketplace/$creator/$slug",
    component: lazyPage(() => import("./pages/marketplace/marketplace-agent-page.tsx"), "MarketplaceAgentPage"),
  }),
  createRoute({
    ...inApp,
    path: "tool-servers",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/tool-servers/tool-servers-page.tsx"), "ToolServersPage"),
  }),
  createRoute({
    ...inApp,
    path: "tool-servers/$serverId",
    component: lazyPage(() => import("./pages/tool-servers/tool-server-page.tsx"), "ToolServerPage"),
  }),
  createRoute({
    ...inApp,
    path: "drives",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/drives/drives-page.tsx"), "DrivesPage"),
  }),
  createRoute({
    ...inApp,
    path: "drives/$driveId",
    validateSearch: driveSearch,
    component: lazyPage(() => import("./pages/drives/drive-page.tsx"), "DrivePage"),
  }),
  createRoute({
    ...inApp,
    path: "identity",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/identity/identity-page.tsx"), "IdentityPage"),
  }),
  createRoute({
    ...inApp,
    path: "identity/$action",
    component: lazyPage(() => import("./pages/identity/identity-action-page.tsx"), "IdentityActionPage"),
  }),
  createRoute({
    ...inApp,
    path: "keys",
    validateSearch: keysSearch,
    component: lazyPage(() => import("./pages/keys/keys-page.tsx"), "KeysPage"),
  }),
  createRoute({
    ...inApp,
    path: "authorize",
    validateSearch: authorizeSearch,
    component: lazyPage(() => import("./pages/authorize/authorize-page.tsx"), "AuthorizePage"),
  }),
  createRoute({
    ...inApp,
    path: "sessions",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/sessions/sessions-page.tsx"), "SessionsPage"),
  }),
  createRoute({
    ...inApp,
    path: "secrets",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/secrets/secrets-page.tsx"), "SecretsPage"),
  }),
  createRoute({
    ...inApp,
    path: "webhooks",
    validateSearch: deliverySearch,
    component: lazyPage(() => import("./pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
  }),
  createRoute({
    ...inApp,
    path: "webhooks/$deliveryId",
    component: lazyPage(() => import("./pages/webhooks/delivery-page.tsx"), "DeliveryPage"),
  }),
  createRoute({
    ...inApp,
    path: "money",
    validateSearch: moneySearch,
    component: lazyPage(() => import("./pages/money/money-page.tsx"), "MoneyPage"),
  }),
  createRoute({
    ...inApp,
    path: "activity",
    validateSearch: auditSearch,
    component: lazyPage(() => import("./pages/audit/activity-page.tsx"), "ActivityPage"),
  }),
  createRoute({
    ...inApp,
    path: "teams",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/teams/teams-page.tsx"), "TeamsPage"),
  }),
  createRoute({
    ...inApp,
    path: "teams/$team",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/teams/team-page.tsx"), "TeamPage"),
  }),
  createRoute({
    ...inApp,
    path: "admin",
    validateSearch: rangeSearch,
    component: lazyPage(() => import("./pages/admin/service-page.tsx"), "ServicePage"),
  }),
  createRoute({
    ...inApp,
    path: "admin/users",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/admin/users-page.tsx"), "UsersPage"),
  }),
  createRoute({
    ...inApp,
    path: "admin/users/$username",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/admin/user-page.tsx"), "UserPage"),
  }),
  createRoute({
    ...inApp,
    path: "admin/plans",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/admin/plans-page.tsx"), "PlansPage"),
  }),
  createRoute({
    ...inApp,
    path: "admin/take-downs",
    validateSearch: listSearch,
    component: lazyPage(() => import("./pages/admin/take-downs-page.tsx"), "TakeDownsPage"),
  }),
  createRoute({
    ...inApp,
    path: "admin/audit",
    validateSearch: auditSearch,
    component: lazyPage(() => import("./pages/admin/audit-page.tsx"), "AuditPage"),
  }),
  createRoute({
    ...inApp,
    path: "docs/$",
    component: lazyPage(() => import("./pages/docs/docs-page.tsx"), "DocsPage"),
  }),
  // An unknown path is shown inside the frame, with the sidebar.
  createRoute({ ...inApp, path: "$", component: NotFoundPage }),
] as const;

export function createConsoleRouter(queries: QueryClient) {
  return createRouter({
    routeTree: root.addChildren([signIn, resetPassword, app.addChildren(pages)]),
    basepath: "/console",
    // Removes search parameters that the route does not know.
    search: { strict: true },
    context: { queries },
    defaultErrorComponent: BrokenPage,
    defaultPreload: "intent",
    scrollRestoration: true,
  });
}
