import type { ApiObject } from '../../../api/object-meta.ts';
import type { FieldError } from '../../../api/status.ts';
import { part, parts, text } from '../../../object/parts.ts';
import { type Ratchet, ratchetOf } from '../../validation/ratchet.ts';

/** What was not looked at once: names of secrets, and what stands below a host with a wildcard. */
export const INGRESS_RATCHETS: readonly Ratchet[] = [
  ratchetOf(/^spec\.tls\[\d+\]\.secretName$/),
  { covers: isBelowWildcard },
];

function isBelowWildcard({ field }: FieldError, ingress: ApiObject): boolean {
  const [, at] = /^spec\.rules\[(\d+)\]\.http/.exec(field) ?? [];
  if (at === undefined) return false;
  return text(parts(part(ingress, 'spec'), 'rules')[Number(at)]?.host).includes('*');
}
