import {
  Bot,
  ChartColumn,
  Coins,
  Fingerprint,
  FolderOpen,
  HardDrive,
  KeyRound,
  type LucideIcon,
  Package,
  Play,
  Plug,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Store,
  Users,
  Vault,
  Webhook,
} from "lucide-react";

/** Where one can go, in the order of the sidebar. */
export const places = [
  {
    name: undefined,
    adminsOnly: false,
    entries: [{ to: "/", label: "Overview", icon: ChartColumn }],
  },
  {
    name: "Models",
    adminsOnly: false,
    entries: [
      { to: "/models", label: "Models", icon: Package },
      { to: "/usage", label: "Usage", icon: ScrollText },
      { to: "/files", label: "Files", icon: FolderOpen },
    ],
  },
  {
    name: "Agents",
    adminsOnly: false,
    entries: [
      { to: "/agents", label: "My agents", icon: Bot },
      { to: "/runs", label: "Runs", icon: Play },
      { to: "/marketplace", label: "Marketplace", icon: Store },
      { to: "/tool-servers", label: "Tool servers", icon: Plug },
      { to: "/drives", label: "Drives", icon: HardDrive },
      { to: "/identity", label: "Identity tenant", icon: Fingerprint },
    ],
  },
  {
    name: "Account",
    adminsOnly: false,
    entries: [
      { to: "/money", label: "Money", icon: Coins },
      { to: "/keys", label: "API keys", icon: KeyRound },
      { to: "/secrets", label: "Secrets", icon: Vault },
      { to: "/webhooks", label: "Webhooks", icon: Webhook },
    ],
  },
  {
    name: "Administration",
    adminsOnly: true,
    entries: [
      { to: "/admin", label: "Service", icon: ShieldCheck },
      { to: "/admin/users", label: "Users", icon: Users },
      { to: "/admin/plans", label: "Plans", icon: SlidersHorizontal },
    ],
  },
] as const satisfies readonly {
  name: string | undefined;
  adminsOnly: boolean;
  entries: readonly { to: string; label: string; icon: LucideIcon }[];
}[];
