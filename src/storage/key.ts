import type { GroupResource } from '../api/names.ts';

/** The identity of a stored object. `namespace` is '' for what is cluster-scoped. */
export interface ObjectKey extends GroupResource {
  readonly namespace: string;
  readonly name: string;
}

/** What a list or watch covers within one resource: everything, one namespace, or one object. */
export interface Scope {
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * Position of an object within its resource: `namespace NUL name`.
 *
 * NUL sorts before every character a name may have, so the order of these strings is the order of
 * (namespace, name) under PostgreSQL's collation "C", which is what SQL lists use.
 */
export function toPosition(key: { readonly namespace: string; readonly name: string }): string {
  return `${key.namespace}\0${key.name}`;
}

export function parsePosition(position: string): { namespace: string; name: string } {
  const at = position.indexOf('\0');
  return { namespace: position.slice(0, at), name: position.slice(at + 1) };
}
