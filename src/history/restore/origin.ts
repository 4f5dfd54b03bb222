import { type Revision, toResourceVersion } from '../../storage/revision.ts';
import type { Attribution } from '../../storage/revision-log.ts';

/**
 * How a revision says that a restore wrote it: its field manager is `restore`, and the last product of its user agent the
 * revision whose state it brought back. `kubectl/v1.31.0 (linux/amd64) restore/4711`
 */
export const RESTORE_MANAGER = 'restore';

const PRODUCT = /(?:^|\s+)restore\/(\d{1,20})\s*$/;

/** What is written down of a client that restores this state. */
export const toRestoringAgent = (userAgent: string, restored: Revision): string =>
  `${withoutRestored(userAgent)} restore/${toResourceVersion(restored)}`.trimStart();

/** The revision whose state a restore brought back; undefined for what no restore wrote. */
export function restoredBy({
  fieldManager,
  userAgent,
}: Pick<Attribution, 'fieldManager' | 'userAgent'>): string | undefined {
  return fieldManager === RESTORE_MANAGER ? PRODUCT.exec(userAgent)?.[1] : undefined;
}

function withoutRestored(userAgent: string): string {
  let rest = userAgent;
  while (PRODUCT.test(rest)) rest = rest.replace(PRODUCT, '');
  return rest;
}
