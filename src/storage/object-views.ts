import type { GroupResource } from '../api/names.ts';

/** A view that people query, with the objects of one resource. */
export interface ObjectView extends GroupResource {
  /** Stand between namespace and name, which come first, and the object, which comes last. */
  readonly columns: readonly ViewColumn[];
}

export interface ViewColumn {
  readonly name: string;
  /** Keys and list indexes, from `item` on if there is one, else from the object on. */
  readonly path: readonly string[];
  /** Selects the first item of a list with this value under this key. */
  readonly item?: { readonly path: readonly string[]; readonly key: string; readonly value: string };
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date';
}

/** ObjectViews keeps views of objects in the objects' database. Any server may do so, several at once too. */
export interface ObjectViews {
  /** Returns the resources that have views, as `widgets.example.com`. @throws what the database says */
  list(): Promise<readonly string[]>;
  /** Makes a view that is missing or differs. `kept`: others depend on the present one. @throws what the database says */
  put(view: ObjectView): Promise<'made' | 'nothing' | 'kept'>;
  /** @throws what the database says */
  drop(resource: GroupResource): Promise<'dropped' | 'nothing' | 'kept'>;
}
