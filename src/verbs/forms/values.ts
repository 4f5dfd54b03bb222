import type { JsonObject } from '../../api/object-meta.ts';
import type { Revision } from '../../storage/revision.ts';
import type { ListHead, Stored } from './form.ts';

/** Writes a list as an answer of its own. */
export type ListEnd = (list: JsonObject) => Buffer;

/** What is shown, as values: for those forms that need the objects themselves. */
export interface Values {
  /** The same for all who are shown the same. */
  readonly id: string;
  object(stored: Stored): JsonObject;
  /** The object as one of a list. */
  item(stored: Stored): JsonObject;
  /** One of the two, for an object so large that others have their turn at each yield. */
  inTurns(stored: Stored, as: 'object' | 'item'): Generator<undefined, JsonObject>;
  /** A list without its items. */
  list(head: ListHead): JsonObject;
  /** Where its items are. */
  readonly itemsField: 'items' | 'rows';
  /** `end`: it ends the state of a streaming list. */
  bookmark(revision: Revision, end: ListEnd | undefined): JsonObject;
}
