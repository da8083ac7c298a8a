import { getCACertificates, setDefaultCACertificates } from "node:tls";

/**
 * GANTRY_EXTRA_CA for the engines whose libraries make their own connections (S3, RabbitMQ, PostgreSQL), where their
 * settings name no authority. Before any of them connects. Part of composing.
 */
export function trustExtraCa(pem: string | undefined): void {
  if (pem !== undefined) setDefaultCACertificates([...getCACertificates("default"), pem]);
}
