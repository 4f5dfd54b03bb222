import { createHash } from 'node:crypto';

/** The hash of a document in Kubernetes' format, for ETags and URLs. */
export function hash(parts: readonly (string | Uint8Array)[]): string {
  const sum = createHash('sha512');
  for (const part of parts) sum.update(part);
  return sum.digest('hex').toUpperCase();
}
