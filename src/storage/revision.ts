/**
 * A revision is the id of one row of `revisions`: the one clock of the whole cluster.
 *
 * It is a bigint inside and the string `metadata.resourceVersion` on the wire. Revisions rise in commit order over all
 * servers; aborted transactions leave gaps, which mean nothing.
 *
 *   parseRevision('42')   → 42n
 *   parseRevision('0042') → undefined (not how we write it, so not something we gave out)
 */

declare const revisionBrand: unique symbol;

export type Revision = bigint & { readonly [revisionBrand]: true };

/** Before the first write. Also what `resourceVersion=0` means on the wire. */
export const NO_REVISION = 0n as Revision;

const MAX_UINT64 = 18446744073709551615n;

/** Reads a decimal uint64; undefined when the text is anything else. */
export function parseRevision(text: string): Revision | undefined {
  if (!/^(0|[1-9][0-9]{0,19})$/.test(text)) return undefined;
  const value = BigInt(text);
  return value <= MAX_UINT64 ? (value as Revision) : undefined;
}

/** Brands a number that PostgreSQL returned as int8. */
export function toRevision(value: string | number | bigint): Revision {
  return BigInt(value) as Revision;
}

export function toResourceVersion(revision: Revision): string {
  return revision.toString();
}
