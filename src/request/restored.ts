/**
 * Marks revisions that a restore wrote: the field manager is `restore`, and the last product of the user agent names the
 * restored revision. Clients cannot set this on their own writes.
 *
 *   kubectl/v1.31.0 (linux/amd64) restore/4711
 */
export const RESTORE_MANAGER = 'restore';

const PRODUCT = /(?:^| )restore\/(\d{1,20})$/;

/** The user agent of a client's restore. */
export const restoringAgent = (userAgent: string, restored: bigint): string =>
  `${withoutProduct(userAgent)} restore/${restored}`.trimStart();

/** The user agent of a client's own write. */
export const writingAgent = (userAgent: string, fieldManager: string): string =>
  fieldManager === RESTORE_MANAGER ? withoutProduct(userAgent) : userAgent;

/** The restored revision; undefined: the revision was not written by a restore. */
export function restoredBy({
  fieldManager,
  userAgent,
}: {
  readonly fieldManager: string;
  readonly userAgent: string;
}): string | undefined {
  return fieldManager === RESTORE_MANAGER ? PRODUCT.exec(userAgent)?.[1] : undefined;
}

function withoutProduct(userAgent: string): string {
  let rest = userAgent;
  while (PRODUCT.test(rest)) rest = rest.replace(PRODUCT, '');
  return rest;
}
