import {
  Ban,
  Bot,
  Cable,
  CalendarClock,
  ChartColumn,
  ChartLine,
  Coins,
  FileClock,
  Fingerprint,
  FolderOpen,
  Hand,
  HardDrive,
  History,
  KeyRound,
  ListChecks,
  type LucideIcon,
  MonitorSmartphone,
  Package,
  Play,
  Plug,
  ScrollText,
  ShieldCheck,
  SlidersHorizontal,
  Store,
  Tags,
  Users,
  UsersRound,
  Vault,
  Webhook,
} from "lucide-react";
import type { OpenTo } from "./key-access.rules.ts";

/** Entries of the sidebar. */
export const navigation = [
  {
    name: undefined,
    adminsOnly: false,
    entries: [{ to: "/", label: "Overview", icon: ChartColumn, openTo: "any key" }],
  },
  {
    name: "Models",
    adminsOnly: false,
    entries: [
      { to: "/models", label: "Models", icon: Package, openTo: "any key" },
      { to: "/providers", label: "Providers", icon: Cable, openTo: "managers" },
      { to: "/aliases", label: "Aliases", icon: Tags, openTo: "unconfined keys" },
      { to: "/predictions", label: "Predictions", icon: ScrollText, openTo: "any key" },
      { to: "/batches", label: "Batches", icon: ListChecks, openTo: "any key" },
      { to: "/usage", label: "Usage", icon: ChartLine, openTo: "any key" },
      { to: "/files", label: "Files", icon: FolderOpen, openTo: "any key" },
    ],
  },
  {
    name: "Agents",
    adminsOnly: false,
    entries: [
      { to: "/agents", label: "My agents", icon: Bot, openTo: "any key" },
      { to: "/runs", label: "Runs", icon: Play, openTo: "any key" },
      { to: "/automations", label: "Automation", icon: CalendarClock, openTo: "unconfined keys" },
      { to: "/approvals", label: "Approvals", icon: Hand, openTo: "any key" },
      { to: "/marketplace", label: "Marketplace", icon: Store, openTo: "any key" },
      { to: "/tool-servers", label: "Tool servers", icon: Plug, openTo: "unconfined keys" },
      { to: "/drives", label: "Drives", icon: HardDrive, openTo: "unconfined keys" },
      { to: "/identity", label: "Identity tenant", icon: Fingerprint, openTo: "unconfined keys" },
    ],
  },
  {
    name: "Account",
    adminsOnly: false,
    entries: [
      { to: "/money", label: "Money", icon: Coins, openTo: "any key" },
      { to: "/keys", label: "API keys", icon: KeyRound, openTo: "any key" },
      { to: "/secrets", label: "Secrets", icon: Vault, openTo: "managers" },
      { to: "/sessions", label: "Sessions", icon: MonitorSmartphone, openTo: "unlimited keys" },
      { to: "/activity", label: "Activity", icon: History, openTo: "managers" },
      { to: "/webhooks", label: "Webhooks", icon: Webhook, openTo: "any key" },
      { to: "/teams", label: "Teams", icon: UsersRound, openTo: "unlimited keys" },
    ],
  },
  {
    name: "Administration",
    adminsOnly: true,
    entries: [
      { to: "/admin", label: "Service", icon: ShieldCheck, openTo: "unlimited keys" },
      { to: "/admin/users", label: "Users", icon: Users, openTo: "unlimited keys" },
      { to: "/admin/plans", label: "Plans", icon: SlidersHorizontal, openTo: "unlimited keys" },
      { to: "/admin/take-downs", label: "Take-downs", icon: Ban, openTo: "unlimited keys" },
      { to: "/admin/audit", label: "Audit log", icon: FileClock, openTo: "unlimited keys" },
    ],
  },
] as const satisfies readonly {
  name: string | undefined;
  adminsOnly: boolean;
  entries: readonly { to: string; label: string; icon: LucideIcon; openTo: OpenTo }[];
}[];
