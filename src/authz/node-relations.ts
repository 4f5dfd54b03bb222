/** What a node may read because something on it needs it. */
export type RelatedKind =
  | 'secret'
  | 'configmap'
  | 'persistentvolumeclaim'
  | 'persistentvolume'
  | 'resourceclaim'
  | 'resourceslice'
  | 'volumeattachment'
  | 'serviceaccount';

/** Tells which objects concern a node. The Node authorizer asks; NodeGraph answers from watches. */
export interface NodeRelations {
  /** `namespace` is '' for what is cluster-scoped. */
  isRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean;
}

/** One object that a pod or volume refers to, as a key. */
export type Reference = string;

export const toReference = (kind: RelatedKind, namespace: string, name: string): Reference =>
  `${kind}\0${namespace}\0${name}`;
