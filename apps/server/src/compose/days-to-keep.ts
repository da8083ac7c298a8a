import type { Config } from "../config/config.ts";

/** How long to keep what. */
export function daysToKeep(config: Config) {
  const resultDays = config.GANTRY_RESULT_DAYS;
  return {
    resultDays,
    threadDays: config.GANTRY_THREAD_DAYS || resultDays,
    uploadDays: config.GANTRY_UPLOAD_DAYS,
    deliveryDays: config.GANTRY_DELIVERY_DAYS,
    auditDays: config.GANTRY_AUDIT_DAYS,
  };
}
