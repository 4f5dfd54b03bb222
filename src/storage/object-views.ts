import type { GroupResource } from '../api/names.ts';

/** A view that people query, with the objects of one resource. */
export interface ObjectView extends GroupResource {
  /** Between namespace and name, which come first, and the object, which comes last. */
  readonly columns: readonly ViewColumn[];
}

export interface ViewColumn {
  readonly name: string;
  /** Keys, and places in lists: from `item` on where there is one, else from the object on. */
  readonly path: readonly string[];
  /** The first item of a list that has this value under this key. */
  readonly item?: { readonly path: readonly string[]; readonly key: string; readonly value: string };
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
}

/** Views of objects, where the objects are stored. Any server may keep them, several at once too. */
export interface ObjectViews {
  /** The resources that have views, as `widgets.example.com`. @throws what the database says */
  list(): Promise<readonly string[]>;
  /** Makes what is not there as it should be. `kept`: others depend on what is there. @throws what the database says */
  put(view: ObjectView): Promise<'made' | 'nothing' | 'kept'>;
  /** @throws what the database says */
  drop(resource: GroupResource): Promise<'dropped' | 'nothing' | 'kept'>;
}
