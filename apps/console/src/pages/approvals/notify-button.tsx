import { Bell, BellOff } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { turnOffNotifications, turnOnNotifications, useNotificationState } from "./notifications.ts";

export function NotifyButton() {
  const state = useNotificationState();
  if (state === "unsupported") return null;
  if (state === "blocked") {
    return (
      <p className="text-muted text-xs">Your browser blocks notifications. Allow them in the settings of this site.</p>
    );
  }
  return state === "on" ? (
    <Button icon={<BellOff size={14} />} onClick={turnOffNotifications}>
      Turn off notifications
    </Button>
  ) : (
    <Button icon={<Bell size={14} />} onClick={() => void turnOnNotifications()}>
      Notify me
    </Button>
  );
}
